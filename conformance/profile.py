"""
A profile: what a host is and can do, and what is demanded of it.

It is a TOML file, ``hostproof.toml``, whose format is kept by
``profile.schema.json``. Nothing about one host stands in a rule; it stands here.

Header values come from the environment and never leave a profile by its
``repr`` or by an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hostproof.conformance.caller_reading import read_callers
from hostproof.conformance.checking import Problem, check, key_text, plain_value
from hostproof.conformance.places import is_path, is_same_origin, joined, path_in
from hostproof.conformance.preset import PRESET, on_its_preset
from hostproof.conformance.profile_parts import (
    DEFAULT_SETS,
    ONE_ENDPOINT,
    Caller,
    Control,
    EffectsAt,
    Endpoint,
    HistoryMode,
    Observation,
    RuleSet,
    RunLimits,
    SetUp,
    TargetAt,
    Waiver,
)
from hostproof.conformance.profile_reading import (
    PLAIN_SETTINGS,
    read_answer,
    read_control,
    read_cues,
    read_effects,
    read_endpoints,
    read_observation,
    read_pause,
    read_settings,
    read_waivers,
)
from hostproof.conformance.style import AnswerStyle, PauseStyle
from hostproof.conformance.toml_file import read_toml
from hostproof.reference_impl.cues import CUES
from hostproof.reports.document import FailOn
from hostproof.reports.printable import printable

if TYPE_CHECKING:
    from hostproof.reference_impl.values import Record

PROFILE_FILE: Final = "hostproof.toml"
VERSION: Final = 1
SCHEMA: Final = "profile.schema.json"
COMMAND_LINE: Final = "the command line"
"""What an error calls the source of :meth:`Profile.with_options`."""

DEFAULT_FAIL_ON: Final = FailOn(level="must", severity="medium")

_NO_TARGET: Final = TargetAt()
_LIMITS: Final = RunLimits()
_PAUSE: Final = PauseStyle()
_ANSWER: Final = AnswerStyle()
_NOBODY: Final[Mapping[str, Caller]] = MappingProxyType({})


class ProfileError(Exception):
    """
    A profile cannot be read or used; a mistake of its author's.

    Its text is one line: the file, the key, what is wrong, what is allowed.

    Attributes:
        name: the file, or what else the profile came from.
        key: a dotted path such as ``callers.alice.headers``; "" for all of it.
        problem: what is wrong. Quotes no value of the profile.
    """

    def __init__(self, name: str, key: str, problem: str) -> None:
        super().__init__(name, key, problem)
        self.name = name
        self.key = key
        self.problem = problem

    def __str__(self) -> str:
        return printable(": ".join(part for part in (self.name, self.key, self.problem) if part))


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """
    What a host is and can do, and what is demanded of it.

    Attributes:
        name: the file, or what else it came from.
        sets: the rule sets it is judged by, in the order of ``RULE_SETS``.
        ag_ui: the version of AG-UI it claims, or None.
        ruleset: the release whose rules judge, or None for the newest.
        min_judged: how many rules must be judged.
        allow_inconclusive: whether a run may end well with an inconclusive rule.
        fail_on: from where on a failure counts.
        target: how it is reached.
        callers: who calls, by name; the first is the main one.
        inspectors: who only observes and controls, by name.
        cues: messages by what they make the agent do; see ``cues.CUES``.
        history: who keeps the conversation.
        endpoints: its agents by name, at least one; the first is the main one.
        pause: how it pauses on the wire.
        answer: how a pause is answered.
        effects: where its effects can be read, if it offers no observation.
        setup: a call for each thread before its first run, or None.
        observation: where its inside can be seen, or None.
        control: where it takes commands, or None.
        limits: how much to send, how long to wait, how much to take.
        waivers: the failures that are expected, one a rule.
    """

    name: str
    sets: tuple[RuleSet, ...] = DEFAULT_SETS
    ag_ui: str | None = None
    ruleset: str | None = None
    min_judged: int = 1
    allow_inconclusive: bool = False
    fail_on: FailOn = DEFAULT_FAIL_ON
    target: TargetAt = _NO_TARGET
    callers: Mapping[str, Caller] = field(default_factory=lambda: _NOBODY)
    inspectors: Mapping[str, Caller] = field(default_factory=lambda: _NOBODY)
    cues: Mapping[str, str] = field(default_factory=lambda: CUES)
    history: HistoryMode = "server"
    pause: PauseStyle = _PAUSE
    answer: AnswerStyle = _ANSWER
    effects: EffectsAt | None = None
    setup: SetUp | None = None
    endpoints: Mapping[str, Endpoint] = field(default_factory=lambda: ONE_ENDPOINT)
    observation: Observation | None = None
    control: Control | None = None
    limits: RunLimits = _LIMITS
    waivers: tuple[Waiver, ...] = ()

    @property
    def everyone(self) -> tuple[Caller, ...]:
        """All identities, inspectors too: those whose headers no output may show."""
        return (*self.callers.values(), *self.inspectors.values())

    @property
    def main_endpoint(self) -> Endpoint:
        """The first of the endpoints."""
        return next(iter(self.endpoints.values()))

    @property
    def shows_effects(self) -> bool:
        """Whether what ran can be seen at all."""
        return self.observation is not None or self.effects is not None

    @property
    def counts_effects(self) -> bool:
        """Whether an action that ran twice can be told from a result that is told twice."""
        return self.observation is not None or (self.effects is not None and self.effects.counts)

    @property
    def restarts(self) -> bool:
        """Whether the host can be restarted: by a command of its own, or by its process."""
        return "restart" in self.control_commands or bool(self.target.start)

    @property
    def base_path(self) -> str:
        """The path of the target's own URL, without its query."""
        return self._own_path().partition("?")[0]

    @property
    def control_commands(self) -> tuple[str, ...]:
        """The commands that the host knows."""
        return self.control.commands if self.control is not None else ()

    def identity(self, name: str | None) -> Caller | None:
        """Find a caller or an inspector by name; None where there is none."""
        return next((one for one in self.everyone if one.name == name), None)

    def cue(self, name: str, nonce: str) -> str | None:
        """Write the cue *name* with its nonce; None where the profile has no such cue."""
        text = self.cues.get(name)
        return None if text is None else text.replace("{nonce}", nonce)

    def endpoint_path(self, endpoint: Endpoint) -> str:
        """
        Say where *endpoint* is, as a ``Request.path`` of the target.

        "" is the target's own URL; its query goes with every endpoint.
        """
        if not endpoint.path:
            return ""
        path, mark, query = self._own_path().partition("?")
        return path.rstrip("/") + endpoint.path + mark + query

    def path_of(self, url: str) -> str | None:
        """Write *url*, a path or a URL, as a ``Request.path``; None if it is of another origin."""
        if is_path(url):
            return url
        target = self.target.url
        return path_in(url) if target is not None and is_same_origin(url, target) else None

    def ready_url(self) -> str | None:
        """Give the URL to poll until the host answers; None for an application."""
        target = self.target
        if target.url is None or target.ready is None:
            return target.url
        return joined(target.url, target.ready)

    def _own_path(self) -> str:
        url = self.target.url
        return self.target.path if url is None else path_in(url)

    def _settings(self, given: Record) -> Record:
        return read_settings(given, fail_on=self.fail_on, limits=self.limits, target=self.target)

    def with_options(
        self,
        *,
        target: Mapping[str, object] | None = None,
        sets: Sequence[str] | None = None,
        fail_on: Mapping[str, object] | None = None,
        limits: Mapping[str, object] | None = None,
        **others: object,
    ) -> Profile:
        """
        Put what the command line says in the profile's place; None leaves it as it is.

        Args:
            target: members of ``[target]``. Another url or app replaces all of
                it, so that no command starts a host that is not the one tested.
            sets: the rule sets.
            fail_on: a level, a severity, or both.
            limits: members of ``[limits]``.
            others: ``ag_ui``, ``ruleset``, ``min_judged``, ``allow_inconclusive``.

        Raises:
            ProfileError: a value is not allowed, or does not go with the profile.
            TypeError: an option has another name.
        """
        unknown = others.keys() - set(PLAIN_SETTINGS)
        if unknown:
            raise TypeError(f"with_options has no option {', '.join(sorted(unknown))}")
        sections = {"target": target, "sets": sets, "fail_on": fail_on, "limits": limits}
        options = {
            name: _without_none(value)
            for name, value in (sections | others).items()
            if value is not None
        }
        try:
            given = _checked({"version": VERSION, **options})
            changed = replace(self, **self._settings(given))
            _check_origins(changed)
        except Problem as problem:
            raise _error(COMMAND_LINE, problem) from None
        return changed


def load_profile(
    path: str | Path, *, environ: Mapping[str, str] | None = None, preset: str | None = None
) -> Profile:
    """
    Read the profile in the file *path*.

    Args:
        path: of a TOML file, at most 1 MiB long.
        environ: where ``${NAME}`` is looked up; the environment by default.
        preset: the preset it stands on, in place of the one it names.

    Raises:
        ProfileError: it cannot be read, is no TOML, or is no profile.
    """
    try:
        document = read_toml(Path(path))
    except Problem as problem:
        raise _error(str(path), problem) from None
    named = document if preset is None else {**document, PRESET: preset}
    return profile_from(named, name=str(path), environ=environ)


def profile_from(
    mapping: Mapping[str, object],
    *,
    name: str = PROFILE_FILE,
    environ: Mapping[str, str] | None = None,
) -> Profile:
    """
    Make a profile of a parsed document.

    Args:
        mapping: as ``tomllib`` gives it.
        name: what errors call it.
        environ: where ``${NAME}`` is looked up; the environment by default.

    Raises:
        ProfileError: it is no profile.
    """
    try:
        given = on_its_preset(_checked(mapping))
        people = read_callers(given.get("callers", {}), os.environ if environ is None else environ)
        observed, controlled = given.get("observation"), given.get("control")
        profile = Profile(
            name=name,
            callers=_with_role(people, "caller"),
            inspectors=_with_role(people, "inspector"),
            cues=read_cues(given.get("cues"), pauses="pause" in given or "answer" in given),
            history=given.get("history", {}).get("mode", "server"),
            pause=read_pause(given.get("pause", {})),
            answer=read_answer(given.get("answer", {})),
            setup=SetUp(**given["setup"]) if "setup" in given else None,
            effects=read_effects(given["effects"], people) if "effects" in given else None,
            endpoints=read_endpoints(
                given.get("endpoints"), keeps_pauses="pause" in given or "answer" in given
            ),
            observation=read_observation(observed, people) if observed else None,
            control=read_control(controlled, people) if controlled else None,
            waivers=read_waivers(given.get("waivers", [])),
        )
        profile = replace(profile, **profile._settings(given))
        _check_origins(profile)
    except Problem as problem:
        raise _error(name, problem) from None
    return profile


def default_profile() -> Profile:
    """Give the profile of a host that nothing is known about."""
    return Profile(name="the default profile")


def _error(name: str, problem: Problem) -> ProfileError:
    return ProfileError(name, key_text(problem.key), problem.text)


def _checked(mapping: Mapping[str, object]) -> Record:
    given: Record = plain_value(mapping)
    check(given, SCHEMA)
    return given


def _without_none(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: member for name, member in value.items() if member is not None}
    return value


def _with_role(people: Mapping[str, Caller], role: str) -> Mapping[str, Caller]:
    return MappingProxyType({name: one for name, one in people.items() if one.role == role})


def _check_origins(profile: Profile) -> None:
    target = profile.target
    for section, url in _places_that_may_be_elsewhere(profile):
        if is_path(url):
            continue
        if target.app is not None:
            raise Problem((section, "url"), "must be a path, such as /health: the target is an app")
        if target.url is not None and profile.path_of(url) is None:
            raise Problem(
                (section, "url"),
                "is of another origin than the target: write a path, or say other_origin = true",
            )


def _places_that_may_be_elsewhere(profile: Profile) -> list[tuple[str, str]]:
    """Name each URL that is asked beside the target's, and has no leave to be of another origin."""
    places: list[tuple[str, str]] = []
    observation, control, effects = profile.observation, profile.control, profile.effects
    if observation is not None and not observation.other_origin:
        places.append(("observation", observation.url))
    if control is not None and not control.other_origin:
        places.append(("control", control.url))
    if effects is not None and effects.kind == "url" and not effects.other_origin:
        places.append(("effects", effects.place))
    return places
