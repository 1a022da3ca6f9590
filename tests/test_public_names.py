"""The package's face: what it exports, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pytest_voiceeval
import pytest_voiceeval.agent
import pytest_voiceeval.tools

HEAVY = [
    *("pipecat", "numpy", "pydantic", "openai", "aiohttp", "websockets"),
    *("soxr", "onnxruntime", "faster_whisper", "piper", "loguru", "yaml", "statistics"),
]


@pytest.mark.parametrize("module", [pytest_voiceeval, pytest_voiceeval.agent, pytest_voiceeval.tools])
def test_every_exported_name_exists_and_is_listed(module: object) -> None:
    for name in module.__all__:  # type: ignore[attr-defined]
        assert getattr(module, name) is not None
        assert name in dir(module)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        pytest_voiceeval.nonsense  # noqa: B018


def test_importing_the_plugin_loads_nothing_heavy() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import pytest_voiceeval.plugin, pytest_voiceeval;"
        f"print(sorted(set({HEAVY!r}) & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
