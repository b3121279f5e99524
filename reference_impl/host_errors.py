"""What can go wrong in serving the reference host; apart, so that it can be named without it."""


class StoreError(Exception):
    """The store cannot be used; the message says why, and what to do about it."""


class ServeError(Exception):
    """The server did not start; the message says what to do."""
