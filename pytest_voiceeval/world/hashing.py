"""The canonical form of a database, and its hash.

Two databases that mean the same hash the same: key order, whole floats, spelled-out nulls, and the
order within lists that have none do not count.

Of a world over a shared database only what changed is written anew: the text of a shared part is kept
with it, and the whole is put together from the texts of its parts.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from itertools import starmap
from json.encoder import encode_basestring_ascii
from operator import itemgetter
from typing import Any

from pytest_voiceeval.world.overlay import (
    SharedDict,
    SharedList,
    WorldDict,
    WorldList,
    is_copy,
    is_shared,
    raw_items,
    raw_values,
    source_of,
    unchanged,
)

SESSION_KEY = "session"
"""Top-level key that belongs to a call, not to the database."""

ORDER_FREE_KEYS = frozenset(
    {
        "standby_list",
        "notifications",
        "bookings",
        "system_accounts",
        "group_memberships",
        "asset_recoveries",
    }
)
"""Keys of lists in which order means nothing."""

NULL_WORDS = frozenset({"none", "null"})

_SIGNS = (".0", "e+", "none", "null", *ORDER_FREE_KEYS)
"""A JSON text without any of these, in any case, is canonical if its keys are sorted."""

_ABSENT = object()

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str)


def normalize_for_comparison(value: Any) -> Any:
    """Return ``value`` with equal things made alike, at every depth.

    A finite whole float becomes an integer; a text that is ``none`` or ``null`` (any case, blanks
    around it) becomes null; a list under an order-free key is sorted by its elements' JSON text.
    Keys, booleans, integers and tuples stay as they are.
    """
    if isinstance(value, dict):
        return {key: _normalize_entry(key, entry) for key, entry in raw_items(value)}
    if isinstance(value, list):
        return [normalize_for_comparison(element) for element in value]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip().lower() in NULL_WORDS:
        return None
    return value


def _normalize_entry(key: Any, entry: Any) -> Any:
    normal = normalize_for_comparison(entry)
    if isinstance(key, str) and key in ORDER_FREE_KEYS and isinstance(normal, list):
        return sorted(normal, key=_sort_text)
    return normal


def _sort_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _without_session(db: Any) -> Any:
    if isinstance(db, dict) and SESSION_KEY in db:
        return {key: value for key, value in raw_items(db) if key != SESSION_KEY}
    return db


def canonical_form(db: Any) -> Any:
    """Return what of ``db`` is hashed: normalised, without the top-level session."""
    return normalize_for_comparison(_without_session(db))


def canonical_text(db: Any) -> str:
    """Return the text whose hash is the database's hash: compact ASCII JSON with sorted keys."""
    return b"".join(_chunks(_texts(_without_session(db)))).decode()


def get_dict_hash(db: Any) -> str:
    """Return the SHA-256 of the canonical text of ``db`` in hexadecimal."""
    texts = _texts(_without_session(db))
    part = source_of(db)
    if not isinstance(part, SharedDict) or not _are_of(texts, part):
        return _digest(texts)
    digest: str | None = getattr(part, "digest", None)
    if digest is None:
        digest = part.digest = _digest(texts)
    return digest


def _texts(db: Any) -> dict[str, bytes] | bytes:
    """Return the canonical texts of the tables of ``db``, by key and sorted, or that of all of it."""
    if isinstance(db, dict) and _is_put_together(db):
        return {key: _entry_text(key, entry) for key, entry in _sorted_entries(db)}
    return _text(db)


def _are_of(texts: dict[str, bytes] | bytes, part: SharedDict) -> bool:
    """Return whether ``texts`` are what is kept with the entries of ``part``."""
    if isinstance(texts, bytes) or texts.keys() != part.keys():
        return False
    return all(text is getattr(part[key], "text", None) for key, text in texts.items())


def _digest(texts: dict[str, bytes] | bytes) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(texts):
        digest.update(chunk)
    return digest.hexdigest()


def _chunks(texts: dict[str, bytes] | bytes) -> Iterator[bytes]:
    """Yield the canonical text of a database piece by piece: it is long."""
    if isinstance(texts, bytes):
        yield texts
        return
    mark = b"{"
    for key, text in texts.items():
        yield mark + _key_text(key)
        yield text
        mark = b","
    yield b"}"


def _text(value: Any) -> bytes:
    """Return the canonical text of ``value``, which is no database, so that no part of it is a session."""
    part = unchanged(value)
    if part is None:
        return _new_text(value)
    text: bytes | None = getattr(part, "text", None)
    if text is None:
        text = part.text = _shared_text(part)
    return text


def _shared_text(part: SharedDict | SharedList) -> bytes:
    if type(part) is SharedDict and part and all(map(is_shared, part.values())):
        return _object_text(_pieces(part).values())
    text = _ENCODER.encode(part)
    small = text.lower()
    return _plain_text(part) if any(sign in small for sign in _SIGNS) else text.encode()


def _new_text(value: Any) -> bytes:
    """Return the text of what has none yet, put together from texts of its parts where there may be any."""
    if type(value) is WorldList and any(map(_has_text, value)):
        return b"[%b]" % b",".join(map(_text, value))
    if isinstance(value, dict):
        source = source_of(value)
        if isinstance(source, SharedDict) and _are_texts(value.keys() - source.keys()):
            return _object_text(_changed_pieces(value, source))
        if _is_put_together(value):
            return _object_text(starmap(_piece, _sorted_entries(value)))
    return _plain_text(value)


def _plain_text(value: Any) -> bytes:
    return _ENCODER.encode(normalize_for_comparison(value)).encode()


def _changed_pieces(value: dict[str, Any], source: SharedDict) -> Iterable[bytes]:
    """Return the sorted texts of the entries of ``value``, of which most are those of ``source``."""
    pieces = dict(_pieces(source))
    for key in source.keys() - value.keys():
        del pieces[key]
    for key, entry in raw_items(value):
        before = source.get(key, _ABSENT)
        if entry is not before and not is_copy(entry, before):
            pieces[key] = _piece(key, entry)
    return pieces.values() if pieces.keys() <= source.keys() else map(pieces.__getitem__, sorted(pieces))


def _pieces(part: SharedDict) -> dict[str, bytes]:
    """Return the texts of the entries of ``part``, key and value, sorted by key; they are kept with it."""
    pieces: dict[str, bytes] | None = getattr(part, "pieces", None)
    if pieces is None:
        pieces = part.pieces = {key: _piece(key, part[key]) for key in sorted(part)}
    return pieces


def _piece(key: str, value: Any) -> bytes:
    return _key_text(key) + _entry_text(key, value)


def _key_text(key: str) -> bytes:
    return encode_basestring_ascii(key).encode() + b":"


def _entry_text(key: str, value: Any) -> bytes:
    if key in ORDER_FREE_KEYS and isinstance(value, list):
        return _ENCODER.encode(_normalize_entry(key, value)).encode()
    return _text(value)


def _object_text(pieces: Iterable[bytes]) -> bytes:
    return b"{%b}" % b",".join(pieces)


def _sorted_entries(value: dict[str, Any]) -> list[tuple[str, Any]]:
    return sorted(raw_items(value), key=itemgetter(0))


def _is_put_together(value: dict[Any, Any]) -> bool:
    return any(map(_has_text, raw_values(value))) and _are_texts(value)


def _are_texts(keys: Iterable[Any]) -> bool:
    return all(type(key) is str for key in keys)


def _has_text(value: Any) -> bool:
    return type(value) in (SharedDict, SharedList, WorldDict, WorldList)
