"""Worlds that share one database: what nobody touched exists once, what a scenario touches is its own.

``share`` makes the parts of a database unchangeable. ``world_of`` lays a world over it: a ``dict`` that
holds the shared parts and copies one, one level deep, when it is first handed out. So a world costs what
was looked at, and a hash or a diff costs what was changed: a part whose entries are the very objects of the
part that it was copied from has not changed. Nothing keeps books on changes, so none can be missed,
whichever way it comes about.

Tools use a world like any dict. Where Python looks at a dict or list from inside, past its methods, it
sees shared parts, which read as the others do and refuse to be changed; the one such place that is known
to hand them on is a pydantic model whose field takes anything.
"""

from __future__ import annotations

import copy
from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from typing import Any, NoReturn, SupportsIndex, TypeGuard

_ATOMS = frozenset({str, int, float, bool, type(None)})

Plain = tuple[type[Any], tuple[()], None, Iterator[Any] | None, Iterator[Any] | None]


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError("this part of a database is shared by all its worlds; change a copy: copy.deepcopy(it)")


class SharedDict(dict[str, Any]):
    """An object of a shared database, which cannot be changed.

    Attributes:
        text: its canonical text, set when it is first asked for.
        digest: its hash, if it is a database, set likewise.
        pieces: the canonical texts of its entries, sorted by key, set likewise.
    """

    __slots__ = ("digest", "pieces", "text")
    text: bytes
    digest: str
    pieces: dict[str, bytes]

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return plain_copy(self)

    def __reduce_ex__(self, _: SupportsIndex) -> Plain:
        return dict, (), None, None, iter(self.items())


class SharedList(list[Any]):
    """A list of a shared database, which cannot be changed.

    Attributes:
        text: its canonical text, set when it is first asked for.
    """

    __slots__ = ("text",)
    text: bytes

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return plain_copy(self)

    def __reduce_ex__(self, _: SupportsIndex) -> Plain:
        return list, (), None, iter(self), None


class WorldList(list[Any]):
    """A list of a world. It holds no shared parts: its elements are copied when it is."""

    __slots__ = ("_source",)
    _source: SharedDict | SharedList

    def __deepcopy__(self, memo: dict[int, Any]) -> WorldList:
        twin = WorldList()
        memo[id(self)] = twin
        twin.extend(copy.deepcopy(element, memo) for element in self)
        if (source := source_of(self)) is not None:
            twin._source = source
        return twin

    def __reduce_ex__(self, _: SupportsIndex) -> Plain:
        return list, (), None, iter(self), None


class WorldDict(dict[str, Any]):
    """An object of a world. It may hold shared parts; what it hands out is the world's own."""

    __slots__ = ("_source",)
    _source: SharedDict | SharedList

    def __getitem__(self, key: str) -> Any:
        value = dict.__getitem__(self, key)
        if is_shared(value):
            value = own(value)
            dict.__setitem__(self, key, value)
        return value

    # With an ``__iter__`` of its own, ``dict(x)``, ``{**x}`` and ``update(x)`` come by ``__getitem__`` too.
    def __iter__(self) -> Iterator[str]:
        return dict.__iter__(self)

    def get(self, key: str, default: Any = None, /) -> Any:
        """Return the value of ``key``, ``default`` if there is none."""
        return self[key] if key in self else default  # noqa: SIM401 - this is what ruff would have it call

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """Return a view of the values."""
        self._own_all()
        return dict.values(self)

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """Return a view of keys and values."""
        self._own_all()
        return dict.items(self)

    def pop(self, key: str, /, *default: Any) -> Any:
        """Remove ``key`` and return its value."""
        return own(dict.pop(self, key, *default))

    def popitem(self) -> tuple[str, Any]:
        """Remove the last key and return it with its value."""
        key, value = dict.popitem(self)
        return key, own(value)

    def setdefault(self, key: str, default: Any = None, /) -> Any:
        """Return the value of ``key``, which becomes ``default`` if there is none."""
        dict.setdefault(self, key, default)
        return self[key]

    def copy(self) -> dict[str, Any]:
        """Return a plain dict with the same entries."""
        return {**self}

    __copy__ = copy

    def __or__(self, other: Any) -> Any:
        return {**self, **other} if isinstance(other, dict) else NotImplemented

    def __deepcopy__(self, memo: dict[int, Any]) -> WorldDict:
        twin = WorldDict()
        memo[id(self)] = twin
        for key, value in dict.items(self):
            dict.__setitem__(twin, key, value if is_shared(value) else copy.deepcopy(value, memo))
        if (source := source_of(self)) is not None:
            twin._source = source
        return twin

    def __reduce_ex__(self, _: SupportsIndex) -> Plain:
        return dict, (), None, None, iter(list(dict.items(self)))

    def _own_all(self) -> None:
        for key, value in dict.items(self):
            if is_shared(value):
                dict.__setitem__(self, key, own(value))


def share(value: Any) -> Any:
    """Return a copy of ``value``, made of what JSON has, that cannot be changed.

    Raises:
        TypeError: if there is anything in it that JSON does not have, a key that is no text included.
    """
    if isinstance(value, dict):
        if not set(map(type, value)) <= {str}:
            raise TypeError(f"keys of a database are texts, unlike one of {list(value)!r}")
        entries = raw_items(value)
        return SharedDict({key: e if type(e) in _ATOMS else share(e) for key, e in entries})
    if isinstance(value, list):
        return SharedList([e if type(e) in _ATOMS else share(e) for e in value])
    if type(value) not in _ATOMS:
        raise TypeError(f"a database holds what JSON has, not {type(value).__name__}: {value!r}")
    return value


def world_of(base: dict[str, Any]) -> dict[str, Any]:
    """Return a world over ``base``: equal to it, and as independent of it as a deep copy.

    It is cheap where ``base`` is shared already; of any other database a shared copy is made first.

    Raises:
        TypeError: if ``base`` is no database: see ``share``.
    """
    return _own_dict(base if type(base) is SharedDict else share(base))


def own(value: Any) -> Any:
    """Return a copy of a shared part that a world may change; anything else is returned as it is."""
    if type(value) is SharedDict:
        return _own_dict(value)
    if type(value) is SharedList:
        twin = WorldList(map(own, value))
        twin._source = value
        return twin
    return value


def _own_dict(part: SharedDict) -> WorldDict:
    twin = WorldDict(part)
    twin._source = part
    return twin


def is_shared(value: Any) -> TypeGuard[SharedDict | SharedList]:
    """Return whether ``value`` is a part of a shared database."""
    return type(value) is SharedDict or type(value) is SharedList


def source_of(value: Any) -> SharedDict | SharedList | None:
    """Return the shared part that ``value`` was copied from, if it was and is a part of a world."""
    return getattr(value, "_source", None) if type(value) in (WorldDict, WorldList) else None


def unchanged(value: Any) -> SharedDict | SharedList | None:
    """Return the shared part that ``value`` is, or is an unchanged copy of; ``None`` if it is neither."""
    if is_shared(value):
        return value
    source = source_of(value)
    return source if source is not None and _is_copy(value, source) else None


def is_copy(value: Any, part: Any) -> bool:
    """Return whether ``value`` is an unchanged copy of ``part``, which then is a shared part."""
    return part is not None and source_of(value) is part and _is_copy(value, part)


def _is_copy(value: Any, source: Any) -> bool:
    """Return whether ``value``, which was copied from ``source``, still has its very entries."""
    if isinstance(source, dict):
        if [*value] != [*source]:
            return False
        pairs = zip(dict.values(value), source.values(), strict=True)
    elif len(value) != len(source):
        return False
    else:
        pairs = zip(value, source, strict=True)
    for now, then in pairs:
        if now is not then:
            # A loop of its own: this is most of what a hash costs.
            kind = type(now)
            if not (kind is WorldDict or kind is WorldList):
                return False
            if then is None or getattr(now, "_source", None) is not then or not _is_copy(now, then):
                return False
    return True


def raw_values(value: dict[Any, Any] | list[Any]) -> Iterable[Any]:
    """Return the values of an object, or the elements of a list, without a copy of shared parts."""
    if isinstance(value, list):
        return value
    return dict.values(value) if type(value) is WorldDict else value.values()


def raw_items(value: Mapping[Any, Any]) -> Iterable[tuple[Any, Any]]:
    """Return keys and values of an object, without a copy of shared parts. They are for reading only."""
    return dict.items(value) if type(value) is WorldDict else value.items()


def plain_copy(value: Any) -> Any:
    """Return ``value`` with new plain dicts and lists in place of all that there are in it."""
    if isinstance(value, dict):
        return {key: plain_copy(entry) for key, entry in raw_items(value)}
    if isinstance(value, list):
        return [plain_copy(element) for element in value]
    return value
