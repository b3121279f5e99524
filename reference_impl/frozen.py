"""
A deep copy of a JSON value that cannot be written to.

Functions that only look at a call's arguments get this copy, never the object
the tool runs with. It reads like the plain value: index it, iterate over it,
ask its length, compare it with plain lists and dictionaries. Every method that
would write raises :class:`TypeError`.

The two views are a ``Mapping`` and a ``Sequence``, not a ``dict`` and a
``list``: those could still be written through their own type's methods. So
``isinstance(view, dict)`` is false, and ``match`` patterns work.

Copying and comparing go level by level, so depth is bounded by memory alone.

Source: contract, "Check-in" (docs/contract.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NoReturn, overload

from hostproof.reference_impl.values import Json, Record

if TYPE_CHECKING:
    from collections.abc import Iterator


def _refuse_write(self: object, *_given: object, **_named: object) -> NoReturn:
    raise TypeError(f"a {type(self).__name__} is a frozen copy: copy it before you change it")


class FrozenRecord(Mapping[str, Json]):
    """
    A JSON object that cannot be written to; :func:`frozen_copy` makes it.

    It equals a plain dictionary with equal members, and like one has no hash.
    """

    __slots__ = ("_members",)
    _members: Mapping[str, Json]

    def __new__(cls, members: Record) -> FrozenRecord:
        """Make a view of *members*, which nobody else may hold."""
        self = super().__new__(cls)
        object.__setattr__(self, "_members", MappingProxyType(members))
        return self

    def __getitem__(self, key: str, /) -> Json:
        return self._members[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __eq__(self, other: object) -> bool:
        return _same(self, other) if isinstance(other, dict | FrozenRecord) else NotImplemented

    def __repr__(self) -> str:
        return f"<FrozenRecord of {len(self)}>"

    def __copy__(self) -> FrozenRecord:
        return self

    def __deepcopy__(self, _memo: object) -> FrozenRecord:
        return self

    __hash__ = None  # type: ignore[assignment] # as a dictionary's
    __setattr__ = __delattr__ = _refuse_write
    __setitem__ = __delitem__ = __ior__ = _refuse_write
    clear = pop = popitem = setdefault = update = _refuse_write


class FrozenArray(Sequence[Json]):
    """
    A JSON array that cannot be written to; :func:`frozen_copy` makes it.

    It equals a plain list with equal items, and like one has no hash. A slice
    of it is frozen too.
    """

    __slots__ = ("_items",)
    _items: tuple[Json, ...]

    def __new__(cls, items: Sequence[Json]) -> FrozenArray:
        """Make a view of *items*, which are frozen already."""
        self = super().__new__(cls)
        object.__setattr__(self, "_items", tuple(items))
        return self

    @overload
    def __getitem__(self, at: int, /) -> Json: ...
    @overload
    def __getitem__(self, at: slice, /) -> FrozenArray: ...
    def __getitem__(self, at: int | slice, /) -> Json:
        return FrozenArray(self._items[at]) if isinstance(at, slice) else self._items[at]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return _same(self, other) if isinstance(other, list | FrozenArray) else NotImplemented

    def __repr__(self) -> str:
        return f"<FrozenArray of {len(self)}>"

    def __copy__(self) -> FrozenArray:
        return self

    def __deepcopy__(self, _memo: object) -> FrozenArray:
        return self

    __hash__ = None  # type: ignore[assignment] # as a list's
    __setattr__ = __delattr__ = _refuse_write
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse_write
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse_write


_RECORDS: Final = (dict, FrozenRecord)
_ARRAYS: Final = (list, FrozenArray)
_VIEWS: Final = (FrozenRecord, FrozenArray)


def frozen_copy(value: Json) -> Json:
    """
    Copy a JSON value into one that cannot be written to.

    A scalar is answered as it is, a copy that is frozen already too. What two
    places share is copied once.

    Raises:
        TypeError: *value* holds something that is no JSON value, or a member
            whose name is no string.
        ValueError: *value* holds itself.
    """
    frozen: dict[int, Json] = {}
    parts: dict[int, list[tuple[Json, Json]]] = {}  # keeps every part alive, so ids stay theirs
    above: set[int] = set()
    pending: list[Json] = [value]
    while pending:
        item = pending[-1]
        known = id(item)
        if not isinstance(item, dict | list) or known in frozen:
            pending.pop()
        elif known in above:
            frozen[known] = _frozen(item, parts[known], frozen)
            above.discard(known)
            pending.pop()
        else:
            above.add(known)
            parts[known] = list(item.items() if isinstance(item, dict) else enumerate(item))
            inner = [part for _, part in parts[known] if isinstance(part, dict | list)]
            if any(id(part) in above for part in inner):
                raise ValueError("a value that holds itself cannot be copied")
            pending.extend(inner)
    return _part(value, frozen)


def _frozen(
    item: Record | list[Json], parts: list[tuple[Json, Json]], frozen: Mapping[int, Json]
) -> FrozenRecord | FrozenArray:
    if isinstance(item, list):
        return FrozenArray([_part(part, frozen) for _, part in parts])
    return FrozenRecord({_name(name): _part(part, frozen) for name, part in parts})


def _name(name: Json) -> str:
    if not isinstance(name, str):
        raise TypeError("a member whose name is no string cannot be copied")
    return str.__str__(name)


def _part(part: Json, frozen: Mapping[int, Json]) -> Json:
    """Answer the frozen copy of one part; a subclass's scalar becomes a plain one."""
    if isinstance(part, dict | list):
        return frozen[id(part)]
    if part is None or isinstance(part, bool | FrozenRecord | FrozenArray):
        return part
    if isinstance(part, str):
        return str.__str__(part)
    if isinstance(part, int):
        return int.__int__(part)
    if isinstance(part, float):
        return float.__float__(part)
    raise TypeError(f"{type(part).__name__} is no JSON value and cannot be copied")


def thawed(value: Json) -> Json:
    """Copy a value, frozen or plain, as plain dictionaries and lists that may be written to."""
    root: list[Json] = [value]
    pending: list[tuple[list[Json] | Record, Json]] = [(root, 0)]
    while pending:
        holder, at = pending.pop()
        item = holder[at]
        if isinstance(item, _RECORDS):
            holder[at] = record = dict(item)
            pending.extend((record, key) for key in record)
        elif isinstance(item, _ARRAYS):
            holder[at] = items = list(item)
            pending.extend((items, index) for index in range(len(items)))
    return root[0]


def _same(left: Json, right: Json) -> bool:
    """Compare level by level, by Python's own ``==`` where neither side is a view."""
    pending = [(left, right)]
    while pending:
        one, other = pending.pop()
        if one is other:
            continue
        if isinstance(one, _RECORDS) and isinstance(other, _RECORDS):
            if len(one) != len(other) or any(key not in other for key in one):
                return False
            pending.extend((one[key], other[key]) for key in one)
        elif isinstance(one, _ARRAYS) and isinstance(other, _ARRAYS):
            if len(one) != len(other):
                return False
            pending.extend(zip(one, other, strict=True))
        elif isinstance(one, _VIEWS) or isinstance(other, _VIEWS) or one != other:
            return False
    return True
