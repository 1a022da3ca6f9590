"""Merging runs that were held without pytest, and what can be read of one that was killed."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from test_run_dynamic import Broken, Coffee, Tea, run

from pytest_voiceeval.run.item_outcomes import ItemOutcome, outcome_records, read_outcomes, tally_of
from pytest_voiceeval.run.merge import MergeError, read_sources
from pytest_voiceeval.run.merged_run import merge_runs


def test_runs_without_pytest_are_merged_with_their_errors(tmp_path: Path) -> None:
    tea = run(tmp_path / "one", Tea, Broken())
    coffee = run(tmp_path / "other", Coffee)
    merged = merge_runs([tmp_path / "one", tmp_path / "other"], tmp_path / "merged")
    assert merged.warnings == ()
    assert (merged.tally.total, merged.tally.errors) == (3, 1)
    records = json.loads((tmp_path / "merged" / "all_metrics.json").read_text(encoding="utf-8"))
    assert records == [
        {**record, "scenario_directory": str(tmp_path / "merged" / record["scenario_name"])}
        for record in (coffee[0], tea[0])
    ]
    assert (tmp_path / "merged" / "run__broken" / "item.json").exists()
    run(tmp_path / "one_more", Tea)
    with pytest.raises(MergeError, match="two: run__tea in one and one_more"):
        merge_runs([tmp_path / "one", tmp_path / "one_more"], tmp_path / "again")


def test_what_cannot_be_copied_is_told_and_no_merged_run_is_left(tmp_path: Path) -> None:
    run(tmp_path / "one", Tea)
    os.mkfifo(tmp_path / "one" / "run__tea" / "pipe")
    pipe, copy = tmp_path / "one" / "run__tea" / "pipe", tmp_path / "merged" / "run__tea"
    told = re.escape(f"{pipe}: it can't be copied to {copy}: ")
    with pytest.raises(MergeError, match=f"{told}.*is a named pipe"):
        merge_runs([tmp_path / "one"], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_runs_that_were_begun_in_the_same_second_are_in_the_order_of_their_names(tmp_path: Path) -> None:
    for number, name in enumerate(("b", "d", "a", "c")):
        (tmp_path / name).mkdir()
        start = {"started_at": "2026-11-30T22:00:00", "argv": [number]}
        (tmp_path / name / "run_args.json").write_text(json.dumps({"invocations": [start]}), encoding="utf-8")
    sources = read_sources([tmp_path / name for name in ("c", "d", "b", "a")])
    assert [source.label for source in sources] == ["a", "b", "c", "d"]


def test_of_several_starts_the_last_one_that_came_to_an_item_counts() -> None:
    first = [
        ItemOutcome("tea", "tea", "error", folder="tea"),
        ItemOutcome("milk", "milk", "passed", "passed", "milk", 2),
    ]
    second = [
        ItemOutcome("tea", "tea", "failed", "failed", "tea"),
        ItemOutcome("milk", "milk", "not run"),
        ItemOutcome("gin", "gin", "broken off", folder="gin"),
    ]
    starts = [{"outcomes": outcome_records(first)}, {}, {"outcomes": outcome_records(second)}]
    found = read_outcomes(json.loads(json.dumps(starts)))
    assert found == {"tea": second[0], "milk": first[1], "gin": second[2]}
    tally = tally_of(found.values())
    assert (tally.total, tally.errors, tally.broken_off, tally.not_run, tally.retried) == (3, 0, 1, 0, 1)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        3,
        [],
        {},
        {"item": "tea", "scenario": "tea"},
        {"item": 1, "scenario": "tea", "outcome": "passed"},
    ],
    ids=str,
)
def test_what_is_no_outcome_is_none(entry: object) -> None:
    assert read_outcomes([{"outcomes": [entry]}, {"outcomes": entry}]) == {}


def test_an_outcome_names_no_folder_outside_of_its_run() -> None:
    for folder in ("../tea", "..", ".", "/tmp", "tea/../..", 3):
        entry = {"item": "tea", "scenario": "tea", "outcome": "passed", "folder": folder, "attempts": "many"}
        assert read_outcomes([{"outcomes": [entry]}]) == {"tea": ItemOutcome("tea", "tea", "passed")}
