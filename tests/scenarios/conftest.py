from __future__ import annotations

import pytest

from pytest_voiceeval.scenarios.packs import builtin_pack


@pytest.fixture
def builtin() -> None:
    builtin_pack().load()
