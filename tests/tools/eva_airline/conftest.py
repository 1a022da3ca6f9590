from __future__ import annotations

import pytest
from eva_calls import DOMAIN
from eva_world import eva
from small_worlds import World


@pytest.fixture
def world() -> World:
    return World(DOMAIN, eva())
