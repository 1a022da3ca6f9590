from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.run.history import RunHistory, changed_options, read_invocations, scenario_names
from pytest_voiceeval.run.redaction import redacted, without_environment

ENVIRONMENT = {"JUDGE_API_KEY": "sk-canary-123", "HOME": "/home/someone", "TOKEN": "ab"}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("--voice-agent=ws://127.0.0.1:1", "--voice-agent=ws://127.0.0.1:1"),
        ("ws://ann:pw@host:1/x", "ws://<redacted>@host:1/x"),
        ("wss://host/x?token=abc&rate=8000", "wss://host/x?token=<redacted>&rate=8000"),
        ("ws://h?a=1&api_key=abc,ws://h2?api_key=d", "ws://h?a=1&api_key=<redacted>"),
        ("cmd:bot --api-key abc --port {port}", "cmd:bot --api-key <redacted> --port {port}"),
        ("cmd:bot --api-key='a b' --port {port}", "cmd:bot --api-key=<redacted> --port {port}"),
        ("cmd:OPENAI_API_KEY=abc bot", "cmd:OPENAI_API_KEY=<redacted> bot"),
        ("http://h sk-canary-123 there", "http://h <redacted> there"),
        ("the tab is /home/someone", "the tab is /home/someone"),
        (["--password", "abc", "-k", "pizza"], ["--password", "<redacted>", "-k", "pizza"]),
        (
            ["--voice-judge-api-key-env=MY_KEY", "-k", "token", "--api-key=abc", "-x"],
            ["--voice-judge-api-key-env=MY_KEY", "-k", "token", "--api-key=<redacted>", "-x"],
        ),
        (
            {"judge_api_key": "abc", "judge_api_key_name": "X"},
            {"judge_api_key": "<redacted>", "judge_api_key_name": "X"},
        ),
        (
            {"judge_api_key": "", "max_tokens": "100", "n": 3},
            {"judge_api_key": "", "max_tokens": "100", "n": 3},
        ),
        (
            "--judge-max-tokens=100 --thinking-token-budget=5",
            "--judge-max-tokens=100 --thinking-token-budget=5",
        ),
    ],
)
def test_secrets_are_replaced_and_nothing_else(value: Any, written: Any) -> None:
    assert redacted(value, ENVIRONMENT) == written


def test_every_start_of_a_run_is_kept(tmp_path: Path) -> None:
    RunHistory(tmp_path, {"started_at": "1"}, is_resumed=False).write()
    RunHistory(tmp_path, {"started_at": "2"}, is_resumed=True).write()
    history = RunHistory(tmp_path, {"started_at": "3"}, is_resumed=True)
    history.write()
    history.record["resolved_scenario_names"] = ["a"]
    history.write()
    assert json.loads((tmp_path / "run_args.json").read_text()) == {
        "invocations": [
            {"started_at": "1"},
            {"started_at": "2", "resumed_from_invocation": 0},
            {"started_at": "3", "resumed_from_invocation": 1, "resolved_scenario_names": ["a"]},
        ]
    }
    RunHistory(tmp_path, {"started_at": "4"}, is_resumed=False).write()
    assert read_invocations(tmp_path) == [{"started_at": "4"}]


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ("{", []),
        ("[1]", []),
        ('{"argv": []}', [{"argv": []}]),
        ('{"invocations": 3}', [{"invocations": 3}]),
        ('{"invocations": [3, {"a": 1}]}', [{"a": 1}]),
    ],
)
def test_a_history_that_is_broken_or_of_another_shape_is_taken_as_it_is(
    tmp_path: Path, text: str, records: list[Any]
) -> None:
    (tmp_path / "run_args.json").write_text(text)
    assert read_invocations(tmp_path) == records
    history = RunHistory(tmp_path, {}, is_resumed=True)
    assert history.record.get("resumed_from_invocation") == (len(records) - 1 if records else None)


def start(at: str, profile: str = "x", **options: Any) -> dict[str, Any]:
    return {"invocation": at, "started_at": at, "parsed_args": options, "profiles": {"agent": profile}}


def test_what_results_depend_on_and_was_other_is_told_with_the_last_start_in_which_it_was() -> None:
    before = [
        start("1", voice_agent="local"),
        start("2", voice_agent="other"),
        start("3", voice_agent="local"),
    ]
    assert list(changed_options(before, start("4", voice_agent="local"), made={"1", "2", "3"})) == [
        "voice_agent is 'local' now and was 'other' in the start of 2: results of before stand as they are"
    ]
    assert list(changed_options(before[:1], start("4", "y", voice_agent="local"), made={"1"})) == [
        "the content of the agent's profile is other now than in the start of 1: results of before stand as "
        "they are"
    ]


def test_what_no_result_depends_on_or_was_not_known_is_no_change() -> None:
    before = [start("1", voice_output_dir="a", voice_scenarios="shop"), {"argv": []}]
    now = start("2", voice_output_dir="b", voice_scenarios="", voice_new="1")
    assert not list(changed_options(before, now, made={"1"}))
    assert list(changed_options(before, start("2", voice_scenarios="bank"), made={"1"}))


def test_a_start_that_left_no_result_is_not_compared_with() -> None:
    before = [start("1", voice_strict_match="true"), start("2", voice_strict_match="false")]
    now = start("3", voice_strict_match="false")
    assert not list(changed_options(before, now, made={"2"}))
    assert list(changed_options(before, now, made={"1", "2"}))


def test_where_it_is_not_known_who_made_a_result_any_start_may_have() -> None:
    (known,) = before = [start("1", voice_strict_match="true")]
    now = start("3", voice_strict_match="false")
    assert list(changed_options(before, now, made={"2", None}))
    del known["invocation"]
    assert list(changed_options(before, now, made={"2"}))


@pytest.mark.parametrize(
    ("with_pytest", "without"),
    [
        ({"voice_duration": ""}, {"max_duration": None}),
        ({"voice_duration": "90"}, {"max_duration": 90.0}),
        ({"voice_strict_match": "false"}, {"strict_match": False}),
        ({"voice_strict_match": True}, {"strict_match": True}),
        ({"voice_inactivity_timeout": "none"}, {"inactivity_timeout": None}),
        ({"voice_judge_thinking_token_budget": "none"}, {"judge_thinking_token_budget": None}),
    ],
)
def test_starts_with_and_without_pytest_are_compared_by_what_they_mean(
    with_pytest: dict[str, Any], without: dict[str, Any]
) -> None:
    one, other = start("1", **with_pytest), start("2", **without)
    assert not list(changed_options([one], other, made={"1"}))
    assert not list(changed_options([other], one, made={"2"}))


def test_what_is_other_without_pytest_is_told() -> None:
    before = [start("1", voice_duration="90")]
    assert list(changed_options(before, start("2", max_duration=60.0), made={"1"})) == [
        "max_duration is 60.0 now and was '90' in the start of 1: results of before stand as they are"
    ]


def test_the_names_of_all_starts_are_those_of_the_run() -> None:
    lists: list[Any] = [["a", "b"], ["b", "c"], None]
    assert scenario_names([{"resolved_scenario_names": names} for names in lists]) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["--voice-agent-env=A=1"], ["--voice-agent-env=A=<redacted>"]),
        (["--agent-env", "A=1=2", "-x"], ["--agent-env", "A=<redacted>", "-x"]),
        (["-o", "voice_agent_env=A=1\nB=2"], ["-o", "voice_agent_env=A=<redacted>\nB=<redacted>"]),
        (["-ovoice_user_env=A=1"], ["-ovoice_user_env=A=<redacted>"]),
        (["--override-ini=voice_user_env=A=1"], ["--override-ini=voice_user_env=A=<redacted>"]),
        (["-o", "voice_agent=A=1", "B=1"], ["-o", "voice_agent=A=1", "B=1"]),
    ],
)
def test_no_value_of_a_variable_is_kept_however_it_is_given(given: list[str], kept: list[str]) -> None:
    assert without_environment(given) == kept
