"""Spoken calls of tau2's telecom: both sides have tools, and the bridge keeps their worlds in step."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

pytest.importorskip("piper", reason="the extra 'local' is not installed")
pytest.importorskip("faster_whisper", reason="the extra 'local' is not installed")

DATA = Path(__file__).parents[3] / "shared" / "data"
TASKS = DATA / "tau2_telecom" / "tasks.json"

CALLS = (
    "tau2_telecom__service_issue__overdue_bill_suspension__unseat_sim_card__easy",
    "tau2_telecom__mobile_data_issue__data_usage_exceeded__user_abroad_roaming_enabled_off__easy",
    "tau2_telecom__mms_issue__bad_network_preference__user_abroad_roaming_disabled_on",
    "tau2_telecom__service_issue__contract_end_suspension__unseat_sim_card__hard",
    "tau2_telecom_workflow__service_issue__airplane_mode_on__overdue_bill_suspension",
)


@pytest.mark.skipif(
    not TASKS.is_file(),
    reason="the data of tau2's telecom are not beside this repository",
)
def test_five_calls_with_two_worlds_pass(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(DATA))
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n")
    result = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", f"--voice-scenarios={','.join(CALLS)}", timeout=500
    )
    result.assert_outcomes(passed=len(CALLS))
    (folder,) = pytester.path.glob("eval_results/eval_*")
    for name in CALLS:
        metrics = json.loads((folder / name / "metrics.json").read_text(encoding="utf-8"))
        assert metrics["is_successful"] is True
        assert metrics["db_state_match"] is True
        assert metrics["task_set_sha256"] == hashlib.sha256(TASKS.read_bytes()).hexdigest()
        assert metrics["is_action_match"] is True
        assert all(verdict["passed"] for verdict in metrics["db_state_assertion_verdicts"])
    [answer] = json.loads((folder / CALLS[0] / "final_agent_response.json").read_text(encoding="utf-8"))
    done = [(action["side"], action["name"]) for action in answer["actions"]]
    assert ("agent", "resume_line") in done
    assert ("user", "make_payment") in done
    log = (folder / CALLS[0] / "bridge_log.txt").read_text(encoding="utf-8")
    assert "[SYNC] to the user: {'surroundings.payment_request': None" in log
    assert "[SYNC] to the agent: {'bills[B1234321].status': 'Paid'}" in log
