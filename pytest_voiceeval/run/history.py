"""``run_args.json``: every start of a run, and what was other about those before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_voiceeval.run.files import read_json
from pytest_voiceeval.world.files import write_json

RUN_ARGS = "run_args.json"

WITHOUT_EFFECT = {
    *("voice_output_dir", "voice_cache_dir", "voice_resume", "voice_data_root"),
    *("voice_connect_timeout", "voice_start_timeout"),
    *("voice_auto_resume_on_stale", "voice_auto_resume_on_insufficient_turns"),
    *("voice_max_auto_retries", "voice_auto_retry_backoff_secs", "voice_min_agent_turns"),
    *("auto_resume_on_stale", "auto_resume_on_insufficient_turns", "max_auto_retries"),
    *("auto_retry_backoff_secs", "min_agent_turns", "connect_timeout", "output_sample_rate", "pause"),
}
"""Options that no result depends on, or that hold for results of before too."""

PROFILES = {"the content of the agent's profile": "agent", "the content of the user's profile": "user"}
"""What a start keeps fingerprints of."""


class RunHistory:
    """The starts of one run: those before, and this one.

    Args:
        folder: of the run.
        record: of this start; may be filled while the run goes on.
        is_resumed: there may have been starts before; else they are none of this run.
    """

    def __init__(self, folder: Path, record: dict[str, Any], *, is_resumed: bool) -> None:
        self.folder = folder
        self.record = record
        self.earlier = read_invocations(folder) if is_resumed else []
        if self.earlier:
            record["resumed_from_invocation"] = len(self.earlier) - 1

    def write(self) -> None:
        """Write all starts down, and drop what a start that was killed left half written beside them."""
        for leftover in self.folder.glob(".*.part"):
            leftover.unlink()
        write_json(self.folder / RUN_ARGS, {"invocations": [*self.earlier, self.record]})


def read_invocations(folder: Path) -> list[dict[str, Any]]:
    """Return the records of a run's starts, the first one first; none if they can't be read.

    A file of another shape is one record.
    """
    content = read_json(folder / RUN_ARGS)
    if isinstance(content, dict) and isinstance(content.get("invocations"), list):
        return [record for record in content["invocations"] if isinstance(record, dict)]
    return [content] if isinstance(content, dict) else []


def scenario_names(records: list[dict[str, Any]]) -> list[str]:
    """Return the names of all scenarios that starts of a run were to hold, each once."""
    lists = [record.get("resolved_scenario_names") for record in records]
    names = [name for given in lists if isinstance(given, list) for name in given]
    return list(dict.fromkeys(map(str, names)))


def last_minimum(records: list[dict[str, Any]]) -> int:
    """Return how often an agent had to answer in the last start; 0 if that is not known."""
    options = records[-1].get("parsed_args") if records else None
    given = options if isinstance(options, Mapping) else {}
    text = str(given.get("voice_min_agent_turns", given.get("min_agent_turns", 0)))
    return int(text) if text.isdecimal() else 0


def changed_options(earlier: list[dict[str, Any]], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield what results depend on and was other at a start before, one text each."""
    for key, value in _effects(now).items():
        for record in reversed(earlier):
            before = _effects(record)
            if key in before and before[key] != value:
                found = f"is {_shown(value)} now and was {_shown(before[key])}"
                change = "is other now than" if key in PROFILES else found
                at = record.get("started_at", "?")
                yield f"{key} {change} in the start of {at}: results of before stand as they are"
                break


def _effects(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that results depend on, and fingerprints of what they name."""
    options = record.get("parsed_args")
    profiles = record.get("profiles")
    found = dict(options) if isinstance(options, Mapping) else {}
    if not found.get("voice_scenarios"):  # the scenarios of before, or named otherwise
        found.pop("voice_scenarios", None)
    if isinstance(profiles, Mapping):
        found |= {key: profiles.get(side) for key, side in PROFILES.items()}
    return {key: value for key, value in found.items() if key not in WITHOUT_EFFECT}


def _shown(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)
