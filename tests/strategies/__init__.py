"""Hypothesis strategies the tests share: any JSON value, deep ones too, and marked ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from hostproof.reference_impl.values import MISSING

TEXTS = st.text(st.characters(codec=None), max_size=8)
NUMBERS = st.integers() | st.floats()
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
NAMES = TEXTS | st.sampled_from(
    ["id", "role", "content", "messages", "tools", "name", "threadId", "runId", "resume", "call"]
    + ["interruptId", "status", "payload", "scopes", "mount", "version", "__proto__", "type"]
)


def json_values(max_leaves: int = 12) -> st.SearchStrategy[Any]:
    """Any JSON value, of a depth that fits its leaves."""
    return st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
        max_leaves=max_leaves,
    )


def nested(levels: int, name: str | None = None) -> Any:
    """Build a value of so many levels, lists or objects, without recursion."""
    value: Any = 1
    for _ in range(levels):
        value = [value] if name is None else {name: value}
    return value


def deep_values() -> st.SearchStrategy[Any]:
    """Values far deeper than the interpreter recurses."""
    return st.builds(
        nested, st.sampled_from([500, 5_000, 100_000]), st.sampled_from([None, "messages", "a"])
    )


def any_values() -> st.SearchStrategy[Any]:
    """Any JSON value, deep ones and a missing one included."""
    return json_values() | deep_values() | st.just(MISSING)


TOOL_NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True)
IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,8}", fullmatch=True)


def _or_hostile(good: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return good | good | good | json_values(3)


def _objects(
    required: dict[str, st.SearchStrategy[Any]], optional: dict[str, st.SearchStrategy[Any]]
) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(required, optional=optional)


PARTS = st.lists(
    _or_hostile(
        _objects({"type": st.sampled_from(["text", "text", "image"])}, {"text": TEXTS}),
    ),
    max_size=3,
)
CALLS = st.lists(
    _or_hostile(
        _objects(
            {
                "id": _or_hostile(TEXTS),
                "function": _or_hostile(_objects({"name": TEXTS, "arguments": TEXTS}, {})),
            },
            {},
        )
    ),
    max_size=2,
)
MESSAGES = _objects(
    {
        "id": _or_hostile(TEXTS.filter(bool)),
        "role": _or_hostile(
            st.sampled_from(["user", "user", "assistant", "tool", "system", "activity"])
        ),
    },
    {
        "content": _or_hostile(TEXTS | PARTS),
        "toolCalls": _or_hostile(CALLS),
        "toolCallId": _or_hostile(st.sampled_from(["c1", "c2"])),
    },
)
RUN_INPUTS = _objects(
    {
        "threadId": _or_hostile(IDS),
        "runId": _or_hostile(IDS),
        "messages": _or_hostile(st.lists(_or_hostile(MESSAGES), max_size=4)),
    },
    {
        "parentRunId": _or_hostile(IDS),
        "tools": _or_hostile(st.lists(_or_hostile(_objects({"name": TOOL_NAMES}, {})), max_size=3)),
        "context": _or_hostile(
            st.lists(_or_hostile(_objects({"description": TEXTS, "value": TEXTS}, {})), max_size=2)
        ),
        "resume": _or_hostile(
            st.lists(
                _or_hostile(
                    _objects(
                        {
                            "interruptId": _or_hostile(st.sampled_from(["i1", "i2"])),
                            "status": _or_hostile(st.sampled_from(["resolved", "cancelled"])),
                        },
                        {"payload": json_values(3)},
                    )
                ),
                max_size=2,
            )
        ),
        "state": json_values(4),
        "forwardedProps": json_values(3),
    },
)
"""Bodies in the neighbourhood of a request: most of the way right, often wrong somewhere."""


def marked(value: Any, marker: str) -> Any:
    """Put *marker* into every string and key of *value*, except what must stay to be read far."""
    kept = {"user", "assistant", "tool", "system", "text", "resolved", "cancelled", "activity"}
    if isinstance(value, str):
        return value if value in kept else value + marker
    if isinstance(value, dict):
        return {key: marked(member, marker) for key, member in value.items()} | {
            f"k{marker}": marker
        }
    if isinstance(value, list):
        return [marked(item, marker) for item in value]
    return value


MARKERS = st.from_regex(r"[a-z0-9]{12}", fullmatch=True)


def shown(refusal: BaseException) -> str:
    """Everything of a refusal that could be shown somewhere, but the names not asked."""
    facts = {
        name: getattr(refusal, name)
        for name in ("code", "status", "field", "reason", "members", "message", "args")
    }
    context = (refusal.__cause__, refusal.__context__)
    return f"{refusal!r} {refusal} {facts!r} {context!r}"


def spelled(value: Any) -> list[tuple[str, Any]]:
    """Spell every part of *value*, at any depth, so that two spellings can be compared."""
    parts: list[tuple[str, Any]] = []
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            parts.append(("record", tuple(item)))
            pending.extend(item.values())
        elif isinstance(item, list):
            parts.append(("array", len(item)))
            pending.extend(item)
        else:
            parts.append((type(item).__name__, repr(item)))
    return parts
