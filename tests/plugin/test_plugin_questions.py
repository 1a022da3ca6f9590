"""The built-in questions, run as pytest items: calls without sound, a judge behind HTTP."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pytest_voiceeval.testing_judge import JudgeReply, JudgeServer

DRY_CALLS = """
import pytest
from pytest_voiceeval.run.dry import hold_dry
from pytest_voiceeval.scenarios.rehearsal import sabotage


@pytest.fixture
def voice_conversation(voice_scenario, voice_settings):
    return hold_dry(voice_scenario, sabotage(voice_scenario.rehearsal, voice_settings.rehearsal))
"""


@pytest.fixture
def asking(pytester: pytest.Pytester) -> Any:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makeconftest(DRY_CALLS)

    def asking(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest("-p", "no:cacheprovider", "--voice-scenarios=qa,simple_qa", *arguments)

    return asking


def judged_by(server: JudgeServer) -> tuple[str, str]:
    return f"--voice-judge-url={server.url}", "--voice-judge-model=scripted"


def part(server: JudgeServer, number: int, tag: str) -> Any:
    content = server.requests[number].body["messages"][-1]["content"]
    found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", content, re.DOTALL)
    return json.loads(found[1]) if found else None


def test_a_judge_that_finds_the_answers_right_passes_all_of_them(asking: Any) -> None:
    with JudgeServer('```json\n{"score": 1.0, "reason": "as the reference says"}\n```') as server:
        result = asking(*judged_by(server))
        result.assert_outcomes(passed=13)
        assert len(server.requests) == 13
        references = [part(server, number, "reference") for number in range(13)]
        assert [part(server, number, "prediction") for number in range(13)] == references
        assert len({reference["question"] for reference in references}) == 13


@pytest.mark.parametrize("variant", ["wrong-argument", "drop-last-write", "do-nothing"])
def test_the_judge_sees_what_a_sabotaged_agent_saved_and_its_word_counts(asking: Any, variant: str) -> None:
    with JudgeServer('{"score": 0.1, "reason": "that is not the answer"}') as server:
        result = asking(*judged_by(server), f"--voice-rehearsal={variant}")
        result.assert_outcomes(failed=13)
        for number in range(13):
            assert part(server, number, "prediction") != part(server, number, "reference")
    result.stdout.fnmatch_lines(["*expected a score of at least 0.9, found 0.1*", "*that is not the answer*"])


def test_an_agent_that_does_not_hang_up_fails_though_the_answers_are_right(asking: Any) -> None:
    with JudgeServer('{"score": 1.0, "reason": "right"}') as server:
        asking(*judged_by(server), "--voice-rehearsal=no-exit").assert_outcomes(failed=13)


def test_a_judge_that_is_down_is_an_error_and_no_verdict(asking: Any) -> None:
    with JudgeServer(JudgeReply("no capacity", status=400)) as server:
        asking(*judged_by(server)).assert_outcomes(errors=13)


def test_without_a_judge_all_are_skipped_with_the_reason(asking: Any) -> None:
    result = asking("-rs")
    result.assert_outcomes(skipped=13)
    result.stdout.fnmatch_lines(
        ["*qa__capital_france: there is nothing to score by (judge_passed: no judge is configured*"]
    )
