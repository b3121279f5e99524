"""The reference host, served and ready to be tested: right, or with one fault."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from hostproof.conformance.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostproof.conformance.profile import Profile
    from hostproof.conformance.rule import Build

EMBEDDED_NAME: Final = "the embedded reference host"
EXTRA: Final = "hostproof[host]"
LOGS: Final = ("hostproof.host", "uvicorn.error")


def needs_host(error: ImportError) -> TargetError:
    """Say what to install where the reference host is asked for and cannot be imported."""
    return TargetError(
        f"the reference host needs {error.name}, which is not installed: pip install '{EXTRA}'."
    )


@contextmanager
def embedded(fault: Build | None = None) -> Iterator[Profile]:
    """
    Serve the reference host while the block runs, and give its profile.

    The host's own log is silent meanwhile: a fault is meant to break.

    Raises:
        ServeError: it did not start.
        TargetError: what it needs is not installed.
    """
    try:
        from hostproof.conformance.embedded_profile import embedded_profile  # noqa: PLC0415
        from hostproof.reference_impl.embedded import build_host  # noqa: PLC0415
        from hostproof.reference_impl.serving import served  # noqa: PLC0415
    except ImportError as error:
        raise needs_host(error) from error
    logs = [logging.getLogger(name) for name in LOGS]
    before = [log.disabled for log in logs]
    host = build_host(inspect=True, fault=fault)
    try:
        with served(host.app) as url:
            for log in logs:
                log.disabled = True
            yield embedded_profile(url, host.tokens)
    finally:
        for log, was in zip(logs, before, strict=True):
            log.disabled = was
        host.close()
