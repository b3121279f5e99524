"""
Strategies of valid bodies: requests that a host takes, in all their variety.

A body is drawn with slots (:mod:`.edits`) for what is only known when it is
sent: ``{thread}``, ``{run}``, ``{plain}`` and ``{canary}``, and where it
answers a pause ``{interrupt}`` or ``{call}``.

Source: contract, "Reader" and "Turn" (docs/contract.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from hostproof.strategies.json_values import (
    CANARY,
    chosen,
    escaped,
    json_values,
    names,
    objects,
    some_values,
    spoken_texts,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypothesis.strategies import SearchStrategy

    from hostproof.reference_impl.values import Json, Record
    from hostproof.strategies.changes import EndpointName

SLOT_LENGTH: Final = 36
"""Characters of what fills ``{thread}`` and ``{run}``: a UUID."""

_ID_ALPHABET: Final = "abcXYZ019._:-"
_ODD_IDS: Final = (
    CANARY,
    " ",
    "\x00",
    escaped("{"),
    "__proto__",
    "x" * 400,
    "\U0001f600" * 200,
    "\u00e9" * 400,
    "y" * 380 + CANARY,
)
_MEDIA: Final = ("image", "audio", "video", "document", "binary", "Text", "{canary}", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """
    What an endpoint lets a page decide.

    Attributes:
        keeps_conversation: whether more than the newest message may be sent.
        client_tools: names of the tools that a page may offer.
        states: states that are taken beside empty ones, or ``None``.
        contexts: contexts that are taken beside empty ones, or ``None``.
    """

    keeps_conversation: bool = True
    client_tools: tuple[str, ...] = ()
    states: SearchStrategy[Json] | None = None
    contexts: SearchStrategy[Json] | None = None


@cache
def page_states() -> SearchStrategy[Record]:
    """States that the reference's validator takes: an object with a text ``page``."""
    return objects({"page": texts()}, optional={"seen": json_values()})


@cache
def page_contexts() -> SearchStrategy[list[Record]]:
    """Contexts that the reference's validator takes: entries on the page and the locale."""
    entry = objects({"description": st.sampled_from(["page", "locale"]), "value": texts()})
    return st.lists(entry, min_size=1, max_size=2)


AGENTS: Final[Mapping[EndpointName, Allowed]] = MappingProxyType(
    {
        "main": Allowed(client_tools=("show_form",)),
        "carrying": Allowed(
            client_tools=("show_form",), states=page_states(), contexts=page_contexts()
        ),
        "stateless": Allowed(keeps_conversation=False),
    }
)
"""What the three agents of the contract take."""


@cache
def run_ids(*, slot: str = "{run}") -> SearchStrategy[str]:
    """Thread and run ids, unique by their *slot*: each character, and the longest."""
    longest = slot + "x" * (128 - SLOT_LENGTH)
    return st.one_of(
        st.just(slot),
        st.text(_ID_ALPHABET, max_size=8).map(lambda tail: slot + tail),
        st.sampled_from([f"a.b_c:d-e.{slot}", f"0{slot}", f"constructor.{slot}", longest]),
    )


@cache
def item_ids() -> SearchStrategy[str]:
    """Ids of messages and calls: any text that is not empty, up to the longest."""
    return st.one_of(
        st.just("m"),
        st.just("{run}"),
        texts().map(lambda text: f"m{text}"[:400]),
        chosen(_ODD_IDS),
    )


@cache
def _parts(*, media: bool) -> SearchStrategy[Record]:
    text = objects(
        {"text": texts()}, fixed={"type": "text"}, optional={"x-{canary}": json_values()}
    )
    if not media:
        return text
    other = objects(
        {"type": st.sampled_from(_MEDIA)}, optional={"source": json_values(), "text": json_values()}
    )
    return st.one_of(text, other)


@cache
def contents(*, media: bool = True) -> SearchStrategy[Json]:
    """Contents of a message: a text, or parts, those that are no text only with *media*."""
    return st.one_of(texts(), st.lists(_parts(media=media), max_size=2))


@cache
def newest_contents() -> SearchStrategy[Json]:
    """Contents of the newest message: they say something, and in text only."""
    said = objects({"text": st.one_of(st.just("{plain}"), spoken_texts())}, fixed={"type": "text"})
    around = st.lists(_parts(media=False), max_size=1)
    split = st.builds(lambda before, part, after: [*before, part, *after], around, said, around)
    return st.one_of(st.just("{plain}"), spoken_texts(), split)


def user_messages(*, said: SearchStrategy[Json] | None = None) -> SearchStrategy[Record]:
    """Messages of a person; *said* are their contents, any by default."""
    return objects(
        {"id": item_ids(), "content": contents() if said is None else said},
        fixed={"role": "user"},
        optional={"name": texts(), "x-note": json_values()},
    )


def tool_messages(
    *, call_ids: SearchStrategy[str] | None = None, results: SearchStrategy[Json] | None = None
) -> SearchStrategy[Record]:
    """Results of calls; any call's and any result by default."""
    return objects(
        {
            "id": item_ids(),
            "toolCallId": item_ids() if call_ids is None else call_ids,
            "content": contents() if results is None else results,
        },
        fixed={"role": "tool"},
        optional={"error": texts()},
    )


@cache
def tool_calls() -> SearchStrategy[Record]:
    """Calls as an assistant's message holds them."""
    function = objects({"name": texts(), "arguments": texts()})
    return objects({"id": item_ids(), "function": function}, fixed={"type": "function"})


@cache
def assistant_messages() -> SearchStrategy[Record]:
    """Messages of an assistant, with or without contents and calls."""
    calls: SearchStrategy[Json] = st.one_of(st.none(), st.lists(tool_calls(), max_size=2))
    return objects(
        {"id": item_ids()},
        fixed={"role": "assistant"},
        optional={"content": contents(), "toolCalls": calls},
    )


@cache
def earlier_messages() -> SearchStrategy[Record]:
    """Messages that may stand before the newest: all roles but those that instruct."""
    others = objects(
        {"id": item_ids(), "role": st.sampled_from(["reasoning", "activity"])},
        optional={"content": json_values(), "activityType": texts()},
    )
    return st.one_of(user_messages(), assistant_messages(), tool_messages(), others)


@cache
def histories() -> SearchStrategy[list[Record]]:
    """Messages said before the newest, few of them."""
    return st.lists(earlier_messages(), max_size=2)


def tools(*, allowed: tuple[str, ...]) -> SearchStrategy[Json]:
    """The page's tools: none, null, or some of the *allowed* ones in any order."""
    if not allowed:
        return st.sampled_from([[], None])
    described = objects({}, optional={"description": texts(), "parameters": json_values()})
    chosen = objects({}, optional=dict.fromkeys(allowed, described))
    return st.one_of(
        st.none(), chosen.map(lambda given: [{"name": name} | more for name, more in given.items()])
    )


def _or_empty(values: SearchStrategy[Json] | None, *empty: Json) -> SearchStrategy[Json]:
    none = st.sampled_from([None, *empty])
    return none if values is None else st.one_of(none, values)


def _members(allowed: Allowed) -> dict[str, SearchStrategy[Json]]:
    """Give the members that every request may have or leave off."""
    return {
        "protocolVersion": st.just("1.0"),
        "parentRunId": run_ids(slot="{run}"),
        "tools": tools(allowed=allowed.client_tools),
        "context": _or_empty(allowed.contexts, []),
        "state": _or_empty(allowed.states, {}, []),
        "forwardedProps": json_values(),
        "x-note": json_values(),
        "__proto__": st.dictionaries(names(), json_values(), max_size=1),
    }


@cache
def run_inputs(*, allowed: Allowed) -> SearchStrategy[Record]:
    """Bodies that say something new, on a thread where nothing is pending."""
    newest = user_messages(said=newest_contents())
    if allowed.keeps_conversation:
        messages = st.builds(lambda before, last: [*before, last], histories(), newest)
    else:
        messages = newest.map(lambda last: [last])
    return objects(
        {"threadId": run_ids(slot="{thread}"), "runId": run_ids(), "messages": messages},
        optional={**_members(allowed), "resume": st.sampled_from([None, []])},
    )


def decisions() -> SearchStrategy[Record]:
    """Answers in the form of a decision, which a plain question takes like any other."""
    return objects({"approved": st.booleans(), "by": texts()}, optional={"note": texts()})


@cache
def answers(
    *, allowed: Allowed, interrupt_id: str = "{interrupt}", speaks: bool = False
) -> SearchStrategy[Record]:
    """
    Bodies that answer the interrupt a thread waits on; their messages are not read.

    Args:
        allowed: what the endpoint lets a page decide.
        interrupt_id: of the interrupt.
        speaks: whether the newest message is always a person's.
    """
    entry = objects(
        {"payload": st.one_of(some_values(), decisions())},
        fixed={"interruptId": interrupt_id, "status": "resolved"},
    )
    last = st.lists(user_messages(), min_size=1 if speaks else 0, max_size=1)
    messages = st.builds(lambda before, newest: [*before, *newest], histories(), last)
    return objects(
        {
            "runId": run_ids(),
            "messages": messages,
            "resume": entry.map(lambda one: [one]),
        },
        fixed={"threadId": "{thread}"},
        optional=_members(allowed),
    )


@cache
def client_results(*, allowed: Allowed, call_id: str = "{call}") -> SearchStrategy[Record]:
    """Bodies that bring the result of the call the page runs; their ``resume`` is not read."""
    result = tool_messages(call_ids=st.just(call_id), results=contents(media=False))
    unread = objects(
        {"interruptId": item_ids(), "status": st.sampled_from(["resolved", "cancelled"])},
        optional={"payload": json_values()},
    )
    return objects(
        {
            "runId": run_ids(),
            "messages": st.builds(lambda before, last: [*before, last], histories(), result),
        },
        fixed={"threadId": "{thread}"},
        optional={
            **_members(allowed),
            "resume": st.one_of(st.none(), st.lists(unread, max_size=2)),
        },
    )
