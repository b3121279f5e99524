"""
Making the parts of a profile from a checked document, and what no schema can say of them.

Everything here takes plain values that ``profile.schema.json`` allows, and
raises :class:`~hostproof.conformance.checking.Problem` for what is wrong all
the same.
"""

from __future__ import annotations

import difflib
import re
import shlex
from dataclasses import replace
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hostproof.conformance.answer_words import opposite
from hostproof.conformance.checking import Problem, check_names, suggestion
from hostproof.conformance.places import check_place, check_url
from hostproof.conformance.profile_parts import (
    MAIN,
    ONE_ENDPOINT,
    OTHER_ENDPOINTS,
    RULE_SETS,
    Caller,
    Control,
    EffectsAt,
    Endpoint,
    Observation,
    RunLimits,
    TargetAt,
    Waiver,
)
from hostproof.conformance.style import AnswerStyle, PauseStyle
from hostproof.conformance.target import Limits
from hostproof.reference_impl.cues import CUES
from hostproof.reference_impl.values import Missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.conformance.checking import Key
    from hostproof.conformance.profile_parts import EffectsKind
    from hostproof.reference_impl.values import Record
    from hostproof.reports.document import FailOn

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_VALUES: Final = ("good_state", "bad_state", "good_context", "bad_context")
_NONCE: Final = "{nonce}"
_PLACE: Final = re.compile(r"\{(\w+)\}")
_SOURCES: Final[tuple[EffectsKind, ...]] = ("url", "file", "command", "python", "stream")


PLAIN_SETTINGS: Final = ("ag_ui", "ruleset", "min_judged", "allow_inconclusive")
"""Settings that are read as they stand."""


def read_settings(given: Record, *, fail_on: FailOn, limits: RunLimits, target: TargetAt) -> Record:
    """
    Read what the command line may say too; what is left off is left off.

    Of ``fail_on``, ``limits`` and ``target`` a part may be given; the rest is
    as in the values here.
    """
    settings: Record = {name: given[name] for name in PLAIN_SETTINGS if name in given}
    if "min_judged" in settings:
        settings["min_judged"] = int(settings["min_judged"])
    if "sets" in given:
        settings["sets"] = tuple(one for one in RULE_SETS if one in given["sets"])
    if "fail_on" in given:
        settings["fail_on"] = replace(fail_on, **given["fail_on"])
    if "limits" in given:
        settings["limits"] = read_limits(given["limits"], limits)
    if "target" in given:
        settings["target"] = read_target(given["target"], target)
    return settings


def read_target(given: Record, base: TargetAt) -> TargetAt:
    """
    Read ``[target]``; what it leaves off is as in *base*.

    Where *base* says what the target is already, another url or app replaces
    all of it, so that no command starts a host that is not the one tested.
    """
    key: Key = ("target",)
    if ("url" in given or "app" in given) and (base.url or base.app):
        base = TargetAt()
    words = _words(given["start"], (*key, "start")) if "start" in given else base.start
    members = {name: given[name] for name in ("url", "app", "path", "ready") if name in given}
    target = replace(base, start=words, **members)
    if target.app is not None:
        for name, is_there in (("url", target.url), ("start", words), ("ready", target.ready)):
            if is_there:
                raise Problem(
                    (*key, name), "does not go with app, which is imported into this process"
                )
    elif "path" in given:
        raise Problem((*key, "path"), "goes with app only: a url says its path itself")
    if target.url is not None:
        check_url(target.url, (*key, "url"))
    if target.ready is not None:
        check_place(target.ready, (*key, "ready"))
    return target


def _words(command: str, key: Key) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError:
        raise Problem(key, "is no command: a quotation is not closed") from None
    if not words or "\0" in command:
        raise Problem(key, "is no command: write a program and its arguments")
    return words


def read_cues(given: Record | None, *, pauses: bool) -> Mapping[str, str]:
    """
    Read ``[cues]``; those of the reference host where there is none.

    Where the profile says how the host *pauses*, only the plain one is: no other
    host is known to do on the rest what ours does.
    """
    if given is None:
        return MappingProxyType({"plain": CUES["plain"]}) if pauses else CUES
    for name, text in given.items():
        if text.count(_NONCE) > 1:
            raise Problem(("cues", name), f"has {_NONCE} more than once: at most once")
        if not text.strip():
            raise Problem(("cues", name), "must not be blank")
        for word in _PLACE.findall(text):
            if difflib.get_close_matches(word.lower(), ["nonce"], cutoff=0.7) and word != "nonce":
                raise Problem(("cues", name), f"has a place that stands for nothing: {_NONCE} does")
    return MappingProxyType(dict(given))


def read_pause(given: Record) -> PauseStyle:
    """Read ``[pause]``; an open call is one of a named tool."""
    if given.get("kind") == "call" and "tool" not in given:
        raise Problem(("pause", "tool"), "is missing: an open call is known by its tool's name")
    return PauseStyle(**given)


def read_answer(given: Record) -> AnswerStyle:
    """Read ``[answer]``; a yes needs a no that differs from it, said or turned round from it."""
    style = AnswerStyle(**given)
    if isinstance(style.yes, Missing):
        return style
    if isinstance(style.no, Missing) and opposite(style.yes) == style.yes:
        raise Problem(("answer", "no"), "is missing: the yes has no true in it to turn round")
    if style.no == style.yes:
        raise Problem(("answer", "no"), "is the same as the yes: they must differ")
    return style


def read_effects(given: Record, callers: Mapping[str, Caller]) -> EffectsAt:
    """Read ``[effects]``: one source, and for a URL whose headers are sent."""
    kinds = [kind for kind in _SOURCES if kind in given]
    if len(kinds) != 1:
        raise Problem(("effects",), f"must name one source: {', '.join(_SOURCES)}")
    kind = kinds[0]
    for member in ("caller", "other_origin"):
        if member in given and kind != "url":
            raise Problem(("effects", member), "goes with url only")
    if kind == "url":
        _check_caller_of(given, "effects", callers)
        return EffectsAt(
            kind=kind,
            place=given["url"],
            caller=_observer(given, callers),
            other_origin=given.get("other_origin", False),
        )
    if kind == "command":
        return EffectsAt(kind=kind, words=_words(given["command"], ("effects", "command")))
    if kind == "stream" and _NONCE not in given["stream"]:
        raise Problem(("effects", "stream"), f"must contain {_NONCE}: what a result says that ran")
    return EffectsAt(kind=kind, place=given[kind])


def read_endpoints(given: Record | None, *, keeps_pauses: bool) -> Mapping[str, Endpoint]:
    """
    Read ``[endpoints]``; one at the target's own URL where there is none.

    The main one comes first and is known as ``main``, whatever its own name: it is the
    one of that name, else the first that has no other part of its own.

    Args:
        given: the table, or None.
        keeps_pauses: what holds for an endpoint that does not say.
    """
    if given is None:
        given = {MAIN: {}} if keeps_pauses else None
    if given is None:
        return ONE_ENDPOINT
    check_names("endpoints", given)
    for name, one in given.items():
        for member in _VALUES:
            carried = member.partition("_")[2]
            if member in one and one.get(carried) != "validated":
                raise Problem(
                    ("endpoints", name, member), f'is only read where {carried} = "validated"'
                )
            if member in one and one[member] in ("", [], {}, None):
                raise Problem(
                    ("endpoints", name, member), "must not be empty: no validator sees an empty one"
                )
    return MappingProxyType(
        {
            name: Endpoint(
                name=name,
                **(
                    {"keeps_pauses": keeps_pauses}
                    | one
                    | {"client_tools": tuple(one.get("client_tools", ()))}
                    | {"guarded": tuple(one.get("guarded", ()))}
                ),
            )
            for name, one in _main_first(given).items()
        }
    )


def _main_first(given: Record) -> Record:
    if MAIN in given:
        return {MAIN: given[MAIN], **given}
    first = next((name for name in given if name not in OTHER_ENDPOINTS), None)
    if first is None:
        return {MAIN: {}, **given}
    rest = {name: one for name, one in given.items() if name != first}
    return {MAIN: given[first], **rest}


def read_observation(given: Record, callers: Mapping[str, Caller]) -> Observation:
    """Read ``[observation]``."""
    _check_caller_of(given, "observation", callers)
    return Observation(**(given | {"caller": _observer(given, callers)}))


def read_control(given: Record, callers: Mapping[str, Caller]) -> Control:
    """Read ``[control]``."""
    _check_caller_of(given, "control", callers)
    changed = {"caller": _observer(given, callers), "commands": tuple(given["commands"])}
    return Control(**(given | changed))


def _check_caller_of(given: Record, section: str, callers: Mapping[str, Caller]) -> None:
    check_place(given["url"], (section, "url"))
    named = given.get("caller")
    if named is not None and named not in callers:
        what = suggestion(named, callers) if callers else "there are no callers"
        raise Problem((section, "caller"), f"is no caller of this profile: {what}")


def _observer(given: Record, callers: Mapping[str, Caller]) -> str | None:
    named: str | None = given.get("caller")
    inspectors = (name for name, caller in callers.items() if caller.role == "inspector")
    return named or next(inspectors, None)


def read_limits(given: Record, base: RunLimits) -> RunLimits:
    """Read ``[limits]``; what it leaves off is as in *base*."""
    exchange = base.exchange
    return RunLimits(
        requests=int(given.get("requests", base.requests)),
        concurrency=int(given.get("concurrency", base.concurrency)),
        exchange=Limits(
            deadline_seconds=given.get("deadline_seconds", exchange.deadline_seconds),
            head_seconds=given.get("head_seconds", exchange.head_seconds),
            max_bytes=int(given.get("max_bytes", exchange.max_bytes)),
        ),
    )


def read_waivers(given: list[Record]) -> tuple[Waiver, ...]:
    """Read ``[[waivers]]``."""
    waivers = []
    rules: set[str] = set()
    for at, one in enumerate(given):
        if one["rule"] in rules:
            raise Problem(("waivers", at, "rule"), "is waived already: one waiver a rule")
        rules.add(one["rule"])
        if one["kind"] == "known" and "until" not in one:
            raise Problem(
                ("waivers", at, "until"), "is missing: a known failure needs a last day, YYYY-MM-DD"
            )
        until = _day(one["until"], ("waivers", at, "until")) if "until" in one else None
        waivers.append(Waiver(**(one | {"until": until})))
    return tuple(waivers)


def _day(text: str, key: Key) -> date:
    if _DAY.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    raise Problem(key, "is no date: write a day such as 2026-12-31")
