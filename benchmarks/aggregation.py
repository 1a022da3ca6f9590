"""The end of a run of 10,000 scenarios: folding their metrics, and writing the run's files.

Run by ``tox -e bench``. CPU time, the best of several runs.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from timing import best_cpu_seconds, print_figure

from pytest_voiceeval.run.session import Tally, latencies_csv, read_metrics, write_session_files
from pytest_voiceeval.run.summary import aggregate, summary_text
from pytest_voiceeval.world.files import write_json

SCENARIOS = 10_000
DOMAINS = ("tau2_airline", "tau2_retail", "tau2_telecom", "restaurant")


def metrics(number: int, folder: Path) -> dict[str, Any]:
    """Return the metrics of one scenario: some fail, and every fourth has a judged assertion or two."""
    passed = number % 3 > 0
    latencies = [
        {
            "user_transcript": "I want to change my flight.",
            "agent_transcript": "Of course.",
            "latency_ms": 800.0 + turn,
        }
        for turn in range(8)
    ]
    verdict = {"func_name": "is_paid", "passed": passed}
    return {
        "total_turns": 16,
        "duration_seconds": 90.0,
        "turns": [{"timestamp": "12:00:00", "role": "agent", "text": "Of course."}] * 16,
        "latency_stats": {
            "count": 8,
            "mean_ms": 803.5,
            "p50_ms": 803.5,
            "p95_ms": 806.6,
            "min_ms": 800.0,
            "max_ms": 807.0,
        },
        "latencies": latencies,
        "scenario_name": f"{DOMAINS[number % len(DOMAINS)]}__{number}",
        "scenario_directory": str(folder / str(number)),
        "scenario_duration": 60.0,
        "stop_reason": "[EXIT]",
        "clean_exit": True,
        "is_action_match": passed,
        "db_state_match": passed,
        "db_state_assertion_verdicts": [verdict, verdict],
        "nl_assertion_pass_rate": 1.0 if number % 4 == 0 else None,
        "token_usage": {
            side: {"n_calls": 9, "prompt": 9000, "completion": 300} for side in ("agent", "user")
        },
        "success_breakdown": {
            "passed": ["clean_exit"],
            "failed": [] if passed else ["db_state_match"],
            "not_applicable": [],
            "excluded": [],
        },
        "is_successful": passed,
        "is_task_successful": passed,
    }


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        records = [metrics(number, folder) for number in range(SCENARIOS)]
        for number, record in enumerate(records):
            write_json(folder / str(number) / "metrics.json", record)
            if record["nl_assertion_pass_rate"]:
                judged = {
                    "nl_assertion_verdicts": [{"index": 1, "passed": True}, {"index": 2, "passed": True}]
                }
                (folder / str(number) / "judge_result.json").write_text(json.dumps(judged), encoding="utf-8")
        folders = [folder / str(number) for number in range(SCENARIOS)]
        tally = Tally(total=SCENARIOS)
        print(f"a run of {SCENARIOS:,} scenarios", flush=True)
        print_figure(
            "metrics read from their folders", best_cpu_seconds(lambda: read_metrics(folders, 3), repeats=2)
        )
        print_figure("metrics folded into rates", best_cpu_seconds(lambda: aggregate(records, 3), repeats=3))
        print_figure("summary", best_cpu_seconds(lambda: summary_text(records, tally, 3), repeats=3))
        print_figure("table of latencies", best_cpu_seconds(lambda: latencies_csv(records), repeats=3))
        write = best_cpu_seconds(
            lambda: write_session_files(folder, records, tally=tally, min_agent_turns=3),
            repeats=2,
        )
        print_figure("all files of the run", write)


if __name__ == "__main__":
    main()
