"""
The host of a profile, opened for a run: guarded, reachable, and closed in the end.

Source: docs/profile.md, "Guard".
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hostproof.conformance.asgi_app import load_app
from hostproof.conformance.asgi_target import AsgiTarget
from hostproof.conformance.host_under_test import HostUnderTest
from hostproof.conformance.http_target import HttpTarget
from hostproof.conformance.listener import listening
from hostproof.conformance.owned_process import OwnedProcess, owned_process
from hostproof.conformance.reachability import check_reachable, is_loopback
from hostproof.conformance.set_up import prepared
from hostproof.conformance.target import TargetError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from hostproof.conformance.profile import Profile
    from hostproof.conformance.target import Limits, Target


REACHABLE_SECONDS: Final = 5.0
"""Longest wait for a sign of life before the first request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """What the user allows: a target off this machine, and floods and bombs there."""

    remote: bool = False
    aggressive: bool = False


def is_remote(profile: Profile) -> bool:
    """Say whether a profile's target is off this machine."""
    return _remote_place(profile) is not None


def _remote_place(profile: Profile) -> str | None:
    """Give the first URL off this machine to which requests would go."""
    effects = profile.effects
    asked = [one.url for one in (profile.control, profile.observation) if one is not None]
    asked += [effects.place] if effects is not None and effects.kind == "url" else []
    elsewhere = [url for url in asked if profile.path_of(url) is None]
    ready = profile.ready_url() if profile.target.start else None
    places = [profile.target.url, ready, *elsewhere]
    return next((url for url in places if url is not None and not is_loopback(url)), None)


def guard(profile: Profile, leave: Leave) -> None:
    """
    Keep to this machine unless the user allows more.

    Raises:
        TargetError: the target is remote, and that was not allowed.
    """
    place = _remote_place(profile)
    if place is not None and not leave.remote:
        raise TargetError(
            f"{place} is not on this machine: give --allow-remote if you may test it."
        )


@asynccontextmanager
async def opened_host(
    profile: Profile,
    leave: Leave,
    *,
    folder: Path | None = None,
    limits: Limits | None = None,
) -> AsyncIterator[HostUnderTest]:
    """
    Open the host of a profile while the block runs; its process too, where the profile owns it.

    Args:
        profile: names a URL or an application.
        leave: what the user allows.
        folder: where the host's command is run.
        limits: of one exchange; the profile's by default.

    Raises:
        TargetError: the host cannot be reached as it was given.
    """
    guard(profile, leave)
    at = profile.target
    async with AsyncExitStack() as stack:
        target: Target
        process: OwnedProcess | None = None
        if at.url is not None:
            if at.start:
                ready = profile.ready_url() or at.url
                process = await stack.enter_async_context(owned_process(at.start, ready, folder))
            allowed = limits or profile.limits.exchange
            await check_reachable(
                at.url,
                deadline_seconds=min(
                    REACHABLE_SECONDS, allowed.head_seconds, allowed.deadline_seconds
                ),
            )
            target = prepared(HttpTarget(at.url), profile.setup)
        elif at.app is not None:
            app = AsgiTarget(load_app(at.app), path=at.path, name=at.app)
            await app.start()
            target = prepared(app, profile.setup)
        else:
            raise TargetError("nothing to test: give a URL or module:app, or a profile with one.")
        host = HostUnderTest(
            target,
            profile,
            limits or profile.limits.exchange,
            spare=is_remote(profile) and not leave.aggressive,
            folder=folder,
            restart=None if process is None else process.restart,
        )
        stack.push_async_callback(host.aclose)
        if not is_remote(profile):
            host.listener = await stack.enter_async_context(listening())
        yield host
