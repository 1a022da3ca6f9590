from __future__ import annotations

from pathlib import Path

from pytest_voiceeval.run.agent_turns import agent_model_calls
from pytest_voiceeval.run.aggregate import domain_of


def test_a_name_without_prefix_is_a_domain_of_its_own() -> None:
    assert domain_of("tau2_retail__12") == "tau2_retail"
    assert domain_of("fastbite") == "fastbite"


def test_the_answers_of_the_agent_are_counted_in_its_context_when_usage_is_unknown(tmp_path: Path) -> None:
    context = tmp_path / "bot_logs_agent" / "llm_context.json"
    context.parent.mkdir()
    context.write_text('[{"role": "assistant"}, {"role": "user"}, {"role": "assistant"}]', encoding="utf-8")
    assert agent_model_calls({"scenario_directory": str(tmp_path), "token_usage": None}) == 2
    assert agent_model_calls({"scenario_directory": str(tmp_path / "gone")}) is None
