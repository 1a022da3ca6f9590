"""``run_args.json``: every start of a run, and what was other about those before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_voiceeval.run.files import read_json
from pytest_voiceeval.world.files import write_json

RUN_ARGS = "run_args.json"

WITHOUT_EFFECT = {
    *("output_dir", "cache_dir", "resume", "data_root", "connect_timeout", "start_timeout"),
    *("auto_resume_on_stale", "auto_resume_on_insufficient_turns"),
    *("max_auto_retries", "auto_retry_backoff_secs", "min_agent_turns"),
    *("output_sample_rate", "pause", "concurrency", "shard"),
}
"""Options that no result depends on, or that hold for results of before too."""

PYTEST = "voice_"
"""What pytest's options have before the name that they have elsewhere."""

OTHER_NAMES = {"max_duration": "duration"}
"""Options that a run without pytest keeps under the name of a setting."""

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


def changed_options(
    earlier: list[dict[str, Any]], now: Mapping[str, Any], *, made: Collection[str | None]
) -> Iterator[str]:
    """Yield what results depend on and was other at a start whose results stand, one text each.

    Starts with pytest and without are compared in what both have.

    Args:
        earlier: the records of the starts before.
        now: the record of this one.
        made: which starts left a result (``EarlierRun.makers``). A record that does not tell which start
            it is of may be of any.
    """
    known = {None, *made} if None not in made else None
    telling = [record for record in earlier if known is None or record.get("invocation") in known]
    for name, (key, value) in _effects(now).items():
        for record in reversed(telling):
            _, before = _effects(record).get(name, (key, value))
            if _plain(before) != _plain(value):
                found = f"is {_shown(value)} now and was {_shown(before)}"
                change = "is other now than" if key in PROFILES else found
                at = record.get("started_at", "?")
                yield f"{key} {change} in the start of {at}: results of before stand as they are"
                break


def differing_options(starts: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield what results depend on and is not the same in all runs, one text each.

    Runs with pytest and without are compared in what both have.

    Args:
        starts: the last start of each run, by what the run is called.
    """
    effects = {run: _effects(start) for run, start in starts.items()}
    for name in dict.fromkeys(name for found in effects.values() for name in found):
        values = {run: found[name] for run, found in effects.items() if name in found}
        if name != "scenarios" and len({repr(_plain(value)) for _, value in values.values()}) > 1:
            key = next(iter(values.values()))[0]
            if key in PROFILES:
                yield f"{key} is not the same in {', '.join(values)}"
            else:
                yield f"{key} is " + " and ".join(
                    f"{_shown(value)} in {run}" for run, (_, value) in values.items()
                )


def _effects(record: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return what results depend on, key and value by common name: options, fingerprints of profiles."""
    options = record.get("parsed_args")
    profiles = record.get("profiles")
    given = dict(options) if isinstance(options, Mapping) else {}
    if not given.get("voice_scenarios"):  # the scenarios of before, or named otherwise
        given.pop("voice_scenarios", None)
    if isinstance(profiles, Mapping):
        given |= {key: profiles.get(side) for key, side in PROFILES.items()}
    found = {_common_name(key): (key, value) for key, value in given.items()}
    return {name: pair for name, pair in found.items() if name not in WITHOUT_EFFECT}


def _common_name(key: str) -> str:
    name = key.removeprefix(PYTEST)
    return OTHER_NAMES.get(name, name)


def _plain(value: Any) -> Any:
    """Return a value as it compares with what pytest keeps, which is text as it was given."""
    if not isinstance(value, str | int | float | None):
        return value
    text = "none" if value is None or value == "" else str(value).strip().lower()
    try:
        return float(text)
    except ValueError:
        return text


def _shown(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)
