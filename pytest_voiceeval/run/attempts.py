"""The calls of a scenario that were held again, as ``metrics.json`` tells them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def retried_attempts(metrics: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return those of a scenario's attempts that do not count, from what ``metrics.json`` holds."""
    attempts = metrics.get("attempts")
    entries = attempts if isinstance(attempts, list) else []
    return [entry for entry in entries if isinstance(entry, Mapping) and entry.get("retry_reason")]
