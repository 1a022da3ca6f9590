"""A small project with scenarios of its own, whose calls are canned: nobody speaks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from canned_project import BANK, CONFTEST, OTHER_PLUGINS, SHOP, make_files

# A run within this process forgets the modules that it imported; those that keep registries must stay.
import pytest_voiceeval.plugin.endpoints
import pytest_voiceeval.run.evaluate
import pytest_voiceeval.run.summary
import pytest_voiceeval.scenarios.packs
import pytest_voiceeval.scenarios.registry
import pytest_voiceeval.scenarios.saving  # noqa: F401


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with two scenario files, a test folder, and canned calls."""
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(f"-p no:{name}" for name in OTHER_PLUGINS))
    write = make_files(pytester.path)
    write("scenarios/shop.py", SHOP)
    write("scenarios/bank.py", BANK)
    write("tests/test_plain.py", "def test_plain():\n    pass\n")
    write("conftest.py", CONFTEST)
    pytester.makeini("[pytest]\n")
    return pytester


@pytest.fixture
def write(pytester: pytest.Pytester) -> Callable[[str, str], Path]:
    """Writes a file of the project."""
    return make_files(pytester.path)
