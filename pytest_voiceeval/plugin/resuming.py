"""Going on with a run that was begun before: which scenarios to select, and results from before."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.safe_text import shown_lines
from pytest_voiceeval.plugin.notes import note
from pytest_voiceeval.plugin.option import Option
from pytest_voiceeval.plugin.options import OPTIONS, RESUME
from pytest_voiceeval.plugin.settings import Settings, settings_key
from pytest_voiceeval.report.properties import CHANGED, properties
from pytest_voiceeval.run.earlier import EarlierRun, own_content
from pytest_voiceeval.run.history import RUN_ARGS, read_invocations, scenario_names
from pytest_voiceeval.run.redaction import names_only, redacted, without_environment

if TYPE_CHECKING:
    from pytest_voiceeval.model.metrics import Metrics
    from pytest_voiceeval.plugin.items import VoiceItem

invocation_key = pytest.StashKey[str]()
"""Which start of pytest this is, the same on all workers; begins with the time of it."""

earlier_key = pytest.StashKey[EarlierRun]()
"""What starts before left in the run's folder; there only if this one goes on with theirs."""


def with_scenarios_of_before(config: pytest.Config, settings: Settings) -> Settings:
    """Return the settings, with the scenarios of the run that is gone on with if none are chosen.

    Raises:
        pytest.UsageError: if the run does not tell which those are, or a pack can't be loaded.
    """
    paths_given = config.args_source is pytest.Config.ArgsSource.ARGS
    if settings.resume is None or settings.scenarios or paths_given:
        return settings
    from pytest_voiceeval.scenarios.registry import scenario_class  # noqa: PLC0415 - heavy

    try:
        for pack in settings.packs():
            pack.load()
    except DefinitionError as exc:
        raise pytest.UsageError(str(exc)) from exc
    names = scenario_names(read_invocations(settings.resume))
    known = [name for name in names if scenario_class(name) is not None]
    if not known:
        raise pytest.UsageError(
            f"{RESUME.name(config)}={settings.resume}: its {RUN_ARGS} names no scenario that there is; say "
            "which to hold with --voice-scenarios"
        )
    return replace(settings, scenarios=tuple(known))


def restored(item: VoiceItem) -> Metrics | None:
    """Return the result that an item has from before, and have its reports tell what they told then.

    ``None`` if it has none that counts.
    """
    earlier = item.config.stash.get(earlier_key, None)
    folder = earlier.completed(item.name) if earlier else None
    if folder is None:
        return None
    # Light start.
    from pytest_voiceeval.run.agent_turns import settled  # noqa: PLC0415
    from pytest_voiceeval.run.restored import restored_metrics, restored_transcript  # noqa: PLC0415
    from pytest_voiceeval.run.scenario_changes import scenario_changes  # noqa: PLC0415

    content = settled(own_content(folder), item.config.stash[settings_key].min_agent_turns)
    metrics = restored_metrics(content, folder)
    note(item, properties(metrics))
    if changes := scenario_changes(item.scenario, folder / "scenario_config"):
        note(item, [(CHANGED, ", ".join(changes))])
    item.add_report_section("call", "transcript", shown_lines(restored_transcript(folder)))
    return metrics


def start_record(config: pytest.Config, started_at: datetime, names: Sequence[str]) -> dict[str, Any]:
    """Return what ``run_args.json`` keeps of this start, without secrets."""
    settings = config.stash[settings_key]
    record = {
        "invocation": config.stash[invocation_key],
        "started_at": started_at.isoformat(timespec="seconds"),
        "argv": without_environment([str(arg) for arg in config.invocation_params.args]),
        "parsed_args": {option.key: _given(config, option) for option in OPTIONS},
        "profiles": {side: _digest(text) for side, text in _bots(settings).items()},
    }
    resolved = {"resolved_scenario_count": len(names), "resolved_scenario_names": list(names)}
    found: dict[str, Any] = redacted(record, os.environ)
    return found | resolved


def _given(config: pytest.Config, option: Option[Any]) -> Any:
    if option.is_secret:
        return names_only(option.text(config))
    given = config.getoption(option.key)
    return config.getini(option.key) if given is None else given


def _bots(settings: Settings) -> dict[str, str]:
    return {"agent": settings.agent, "user": settings.user}


def _digest(text: str) -> str | None:
    """Return a fingerprint of what a profile says; ``None`` for a bot that is no profile of ours."""
    from pytest_voiceeval.bots.profile import profile_digest  # noqa: PLC0415 - heavy

    return profile_digest(text)
