"""Fuzz a reference host in this process."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from hostproof.conformance.asgi_target import AsgiTarget
from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.embedded_profile import embedded_profile
from hostproof.conformance.fuzz import Fuzz
from hostproof.conformance.host_under_test import HostUnderTest
from hostproof.conformance.identifiers import Identifiers
from hostproof.conformance.target import Limits
from hostproof.reference_impl.embedded import build_host

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from hostproof.conformance.asgi_app import AsgiApp
    from hostproof.conformance.fuzz_result import FuzzResult
    from hostproof.conformance.rule import Build

LIMITS = Limits(deadline_seconds=5, head_seconds=5)


def fuzz_embedded(
    *,
    fault: Build | None = None,
    wrap: Callable[[AsgiApp], AsgiApp] | None = None,
    sets: Sequence[str] = ("safety", "named"),
    requests: int = 1_000_000,
    change: Callable[[Fuzz], object] | None = None,
    **options: Any,
) -> FuzzResult:
    """
    Fuzz a host of ours.

    Args:
        fault: breaks it.
        wrap: puts another app around it.
        sets: what its profile claims.
        requests: how many may be sent.
        change: changes the engine before it runs.
        options: of the engine.
    """
    host = build_host(inspect=True, fault=fault)
    app: AsgiApp = host.app if wrap is None else wrap(host.app)
    profile = embedded_profile("http://127.0.0.1", host.tokens)
    limits = replace(profile.limits, requests=requests)
    profile = replace(profile, limits=limits).with_options(sets=sets)
    target = AsgiTarget(app, path="/agui")
    fuzz = Fuzz(
        HostUnderTest(target, profile, LIMITS),
        list(all_rules().values()),
        Identifiers("fuzz"),
        **options,
    )
    if change is not None:
        change(fuzz)
    try:
        with asyncio.Runner() as runner:
            result = fuzz.run(runner)
            runner.run(target.aclose())
    finally:
        host.close()
    return result
