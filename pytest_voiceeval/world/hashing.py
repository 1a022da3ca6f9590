"""The canonical form of a database, and its hash.

Two databases that mean the same hash the same: key order, whole floats, spelled-out nulls, and the
order within lists that have none do not count.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

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


def normalize_for_comparison(value: Any) -> Any:
    """Return ``value`` with equal things made alike, at every depth.

    A finite whole float becomes an integer; a text that is ``none`` or ``null`` (any case, blanks
    around it) becomes null; a list under an order-free key is sorted by its elements' JSON text.
    Keys, booleans, integers and tuples stay as they are.
    """
    if isinstance(value, dict):
        return {key: _normalize_entry(key, entry) for key, entry in value.items()}
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


def canonical_form(db: Any) -> Any:
    """Return what of ``db`` is hashed: normalised, without the top-level session."""
    if isinstance(db, dict):
        db = {key: value for key, value in db.items() if key != SESSION_KEY}
    return normalize_for_comparison(db)


def canonical_text(db: Any) -> str:
    """Return the text whose hash is the database's hash: compact ASCII JSON with sorted keys."""
    return json.dumps(canonical_form(db), sort_keys=True, separators=(",", ":"), default=str)


def get_dict_hash(db: Any) -> str:
    """Return the SHA-256 of the canonical text of ``db`` in hexadecimal."""
    return hashlib.sha256(canonical_text(db).encode()).hexdigest()
