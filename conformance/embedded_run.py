"""The reference host, served and ready to be tested: right, or with one fault."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from hostproof.conformance.embedded_profile import embedded_profile
from hostproof.reference_impl.embedded import build_host
from hostproof.reference_impl.serving import served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostproof.conformance.profile import Profile
    from hostproof.conformance.rule import Build

EMBEDDED_NAME: Final = "the embedded reference host"


@contextmanager
def embedded(fault: Build | None = None) -> Iterator[Profile]:
    """
    Serve the reference host while the block runs, and give its profile.

    The host's own log is silent meanwhile: a fault is meant to break.

    Raises:
        ServeError: it did not start.
    """
    log = logging.getLogger("hostproof.host")
    servers = logging.getLogger("uvicorn.error")
    before = (log.disabled, servers.disabled)
    log.disabled = servers.disabled = True
    host = build_host(inspect=True, fault=fault)
    try:
        with served(host.app) as url:
            servers.disabled = True
            yield embedded_profile(url, host.tokens)
    finally:
        log.disabled, servers.disabled = before
        host.close()
