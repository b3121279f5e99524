"""
The control seam of the reference host: what an operator, a redeploy or an accident would do.

Each command is for one thread, so that no other scenario notices.

Source: docs/observation.md, "Control".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from hostproof.reference_impl.ledger import SqliteLedger
from hostproof.reference_impl.sessions import StoredPause, ThreadKey
from hostproof.reference_impl.values import Json, is_record

if TYPE_CHECKING:
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.pausing import Pausing


UNTAMPERED: Final = "untampered"
"""Where a tampered pause keeps the call as it was."""


class StoppedError(Exception):
    """The run was stopped between the spend and the call, as if its process had ended."""


@dataclass(slots=True)
class Stops:
    """Threads whose next run ends right after its spend."""

    threads: set[ThreadKey] = field(default_factory=set)

    def check(self, key: ThreadKey) -> None:
        """
        Stop the run of a thread that is to be stopped, once.

        Raises:
            StoppedError: it is.
        """
        if key in self.threads:
            self.threads.discard(key)
            raise StoppedError("stopped after the spend")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seam:
    """What the commands work on."""

    parts: HostParts
    pausing: Pausing
    stops: Stops
    restart: Callable[[], None]


Command: TypeAlias = Callable[[Seam, ThreadKey], bool]
"""Does a thing to a thread; false where there was nothing to do."""


def close_pause(seam: Seam, key: ThreadKey) -> bool:
    """Close the pause from the host's side: its call is never run."""
    return seam.pausing.close(key)


def _changed(seam: Seam, key: ThreadKey, change: Callable[[StoredPause], StoredPause]) -> bool:
    pause = seam.parts.sessions.load(key).pause
    if pause is None:
        return False
    seam.parts.sessions.save(key, [], change(pause))
    return True


def spoil_pause(seam: Seam, key: ThreadKey) -> bool:
    """Make the stored pause a record that nobody of ours wrote."""
    return _changed(seam, key, lambda pause: replace(pause, suspension={"version": 0}))


def forget_request(seam: Seam, key: ThreadKey) -> bool:
    """Take the request out of the stored pause, as an older release would have left it."""

    def change(pause: StoredPause) -> StoredPause:
        return replace(pause, pending={**pause.pending, "request": None})

    return _changed(seam, key, change)


def tamper_call(seam: Seam, key: ThreadKey) -> bool:
    """Change the arguments of the call in the stored pause; what they were is kept beside it."""
    pause = seam.parts.sessions.load(key).pause
    pending: Json = None if pause is None else pause.pending
    call: Json = pending.get("call") if is_record(pending) else None
    if not is_record(call) or not is_record(call.get("arguments")):
        return False
    changed = {**call, "arguments": {**call["arguments"], "amount": 9_999}}
    tampered = {UNTAMPERED: call, **pending, "call": changed}
    return _changed(seam, key, lambda pause: replace(pause, pending=tampered))


def mend_call(seam: Seam, key: ThreadKey) -> bool:
    """Undo :func:`tamper_call`."""
    pause = seam.parts.sessions.load(key).pause
    pending: Json = None if pause is None else pause.pending
    if not is_record(pending) or UNTAMPERED not in pending:
        return False
    mended = {name: value for name, value in pending.items() if name != UNTAMPERED}
    mended["call"] = pending[UNTAMPERED]
    return _changed(seam, key, lambda pause: replace(pause, pending=mended))


def redeploy_chain(seam: Seam, key: ThreadKey) -> bool:
    """Serve the thread with one more rule at the end of the chain."""
    deployed = seam.pausing.deployment.of(key)
    seam.pausing.deployment.put(key, replace(deployed, chain=(*deployed.chain, "new-rule")))
    return True


def redeploy_ledger(seam: Seam, key: ThreadKey) -> bool:
    """Serve the thread with another ledger, which has seen nothing."""
    deployed = seam.pausing.deployment.of(key)
    seam.pausing.deployment.put(key, replace(deployed, ledger=SqliteLedger()))
    return True


def redeploy_back(seam: Seam, key: ThreadKey) -> bool:
    """Serve the thread as every other again."""
    return seam.pausing.deployment.put_back(key)


def stop_after_spend(seam: Seam, key: ThreadKey) -> bool:
    """Stop the thread's next run between the spend and the call."""
    seam.stops.threads.add(key)
    return True


def restart(seam: Seam, key: ThreadKey) -> bool:
    """Forget all that is held in memory and not in a store, of every thread."""
    del key
    seam.restart()
    return True


COMMANDS: Final[Mapping[str, Command]] = MappingProxyType(
    {
        "close-pause": close_pause,
        "spoil-pause": spoil_pause,
        "forget-request": forget_request,
        "tamper-call": tamper_call,
        "mend-call": mend_call,
        "redeploy-chain": redeploy_chain,
        "redeploy-ledger": redeploy_ledger,
        "redeploy-back": redeploy_back,
        "stop-after-spend": stop_after_spend,
        "restart": restart,
    }
)
"""Every command, by name."""
