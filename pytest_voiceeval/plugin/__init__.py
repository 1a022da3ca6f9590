"""The plugin: what pytest is told of voice scenarios.

Nothing heavy is imported before a scenario is chosen: the plugin is part of runs that have none.
"""

from __future__ import annotations

from pytest_voiceeval.plugin.fixtures import (
    _voice_can_be_scored,
    voice_agent,
    voice_conversation,
    voice_folder,
    voice_judge,
    voice_metrics,
    voice_scenario,
    voice_settings,
    voice_user,
)
from pytest_voiceeval.plugin.hooks import (
    pytest_addoption,
    pytest_cmdline_main,
    pytest_configure,
    pytest_fixture_post_finalizer,
    pytest_fixture_setup,
    pytest_load_initial_conftests,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    pytest_unconfigure,
)

__all__ = [
    "_voice_can_be_scored",
    "pytest_addoption",
    "pytest_cmdline_main",
    "pytest_configure",
    "pytest_fixture_post_finalizer",
    "pytest_fixture_setup",
    "pytest_load_initial_conftests",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "pytest_unconfigure",
    "voice_agent",
    "voice_conversation",
    "voice_folder",
    "voice_judge",
    "voice_metrics",
    "voice_scenario",
    "voice_settings",
    "voice_user",
]
