"""Tests do not depend on those before them: what runs within the process import is there once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

TESTS = """
import sys

pytest_plugins = ["pytester"]
SEEN = []


def test_one_run_after_another(pytester):
    pytester.makepyfile(inner="", test_it="import inner, outside\\n\\ndef test_it():\\n    pass\\n")
    for _ in range(2):
        pytester.runpytest().assert_outcomes(passed=1)
        assert "inner" not in sys.modules
        SEEN.append(sys.modules["outside"])


def test_another():
    import outside

    assert "inner" not in sys.modules
    assert [seen is outside for seen in SEEN] == [True, True]
"""


def test_what_a_run_within_the_process_imports_stays_but_for_its_own(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    for name in ("conftest.py", "alone.py"):
        shutil.copy(Path(__file__).with_name(name), pytester.path)
    pytester.makepyfile(outside="", test_nested=TESTS)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)
