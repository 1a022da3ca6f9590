"""Spoken calls of tau2's airline and shop and of eva: five of each as they should be, and sabotaged ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("piper", reason="the extra 'local' is not installed")
pytest.importorskip("faster_whisper", reason="the extra 'local' is not installed")

DATA = Path(__file__).parents[3] / "shared" / "data"

AIRLINE = [f"tau2_airline__{number}" for number in (7, 8, 13, 17, 49)]
"""Upgrades and cancellations, a booking, a handover, three changes in a row, a refusal."""

RETAIL = [f"tau2_retail__{number}" for number in (0, 26, 45, 64, 99)]
"""An exchange, a handover after a return, an assertion, a refused call, two changes at once."""

EVA = [
    "eva_airline__voluntary_date_change",
    "eva_airline__irrops_cancellation",
    "eva_airline__missed_flight_standby",
    "eva_airline__cancellation_refund",
    "eva_airline__1_2_1",
]
"""A new date, a cancelled flight, a standby list, a refund, one that is named by its number."""

pytestmark = pytest.mark.skipif(
    not (DATA / "tau2_retail" / "tasks.json").is_file(),
    reason="the data of tau2 are not beside this repository",
)


def hold(pytester: pytest.Pytester, names: list[str], *args: str) -> tuple[Any, dict[str, Any]]:
    """Return the outcomes of calls, and the metrics of each."""
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n")
    chosen = f"--voice-scenarios={','.join(names)}"
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", chosen, *args, timeout=500)
    (folder,) = pytester.path.glob("eval_results/eval_*")
    files = {name: folder / name / "metrics.json" for name in names}
    return result, {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items()}


@pytest.mark.parametrize("names", [AIRLINE, RETAIL], ids=["airline", "retail"])
def test_five_calls_pass_with_their_gold_rehearsals(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, names: list[str]
) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(DATA))
    result, metrics = hold(pytester, names)
    result.assert_outcomes(passed=len(names))
    for name in names:
        found = metrics[name]
        signals = [found[key] for key in ("db_state_match", "is_action_match", "clean_exit")]
        assert signals == [True, True, True], name


def test_five_calls_of_eva_pass_with_their_rehearsals(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(DATA))
    result, metrics = hold(pytester, EVA)
    result.assert_outcomes(passed=len(EVA))
    for name in EVA:
        assert [metrics[name][key] for key in ("db_state_match", "clean_exit")] == [True, True], name


def test_a_call_in_which_the_last_change_is_left_out_fails_by_the_database(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(DATA))
    names = [AIRLINE[1], RETAIL[0]]
    result, metrics = hold(pytester, names, "--voice-rehearsal=drop-last-write")
    result.assert_outcomes(failed=2)
    assert [metrics[name]["db_state_match"] for name in names] == [False, False]
    assert [metrics[name]["clean_exit"] for name in names] == [True, True]
    result.stdout.fnmatch_lines(["*reservations.HATHAT: {*} → nothing*"])
