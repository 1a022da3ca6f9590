from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import golden_files
import pytest

from pytest_voiceeval.run.aggregate import RunAggregator, agent_model_calls, domain_of


@pytest.mark.parametrize("case", golden_files.cases("RunAggregator.add_scenario"))
def test_golden_buckets(case: golden_files.Case, tmp_path: Path) -> None:
    def run(given: dict[str, Any]) -> dict[str, Any]:
        aggregate = RunAggregator()
        for number, step in enumerate(given["sequence"]):
            folder = tmp_path / str(number)
            for name, content in step["files"].items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(content, encoding="utf-8")
            metrics = {**step["metrics"], "scenario_directory": str(folder)}
            aggregate.add_scenario(metrics, step["domain"], step["min_agent_turns"])
        return asdict(aggregate)

    golden_files.assert_holds(case, run)


def test_a_name_without_prefix_is_a_domain_of_its_own() -> None:
    assert domain_of("tau2_retail__12") == "tau2_retail"
    assert domain_of("fastbite") == "fastbite"


def test_the_answers_of_the_agent_are_counted_in_its_context_when_usage_is_unknown(tmp_path: Path) -> None:
    context = tmp_path / "bot_logs_agent" / "llm_context.json"
    context.parent.mkdir()
    context.write_text('[{"role": "assistant"}, {"role": "user"}, {"role": "assistant"}]', encoding="utf-8")
    assert agent_model_calls({"scenario_directory": str(tmp_path), "token_usage": None}) == 2
    assert agent_model_calls({"scenario_directory": str(tmp_path / "gone")}) is None
