"""A conversation's context as it is printed: text stays, binary content goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_KINDS = ("audio", "image", "file")
_BINARY_KEYS = {"file_data", "b64_json"}


def printable(value: Any, keys: Sequence[str] = ()) -> Any:
    """Return ``value`` with ``<audio>``, ``<image>``, ``<file>`` or ``<binary>`` for binary content.

    Binary are bytes, texts that begin with ``data:``, the keys ``file_data`` and ``b64_json``, and
    the key ``data`` inside something that is called an audio, an image or a file. ``keys`` are those
    that lead to ``value``.
    """
    if isinstance(value, bytes | bytearray) or (isinstance(value, str) and _is_binary(value, keys)):
        return _placeholder(keys)
    if isinstance(value, dict):
        return {key: printable(part, (*keys, str(key))) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [printable(part, keys) for part in value]
    return value


def _is_binary(text: str, keys: Sequence[str]) -> bool:
    if text.startswith("data:") or (keys and keys[-1] in _BINARY_KEYS):
        return True
    container = keys[-2] if len(keys) > 1 else ""
    return bool(keys) and keys[-1] == "data" and _kind(container) is not None


def _placeholder(keys: Sequence[str]) -> str:
    kinds = (_kind(key) for key in reversed(keys))
    return f"<{next((kind for kind in kinds if kind), 'binary')}>"


def _kind(key: str) -> str | None:
    return next((kind for kind in _KINDS if kind in key), None)
