"""Runs with a judge: a scripted endpoint on this machine, reached over HTTP."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

# A run within this process forgets what it imports; what is heavy is imported once, here.
import openai.resources.chat.completions  # noqa: F401
import pytest

import pytest_voiceeval.scoring.judge  # noqa: F401
from pytest_voiceeval.testing import JudgeReply, JudgeServer

CANARY = "sk-canary-1b9f00d4c7e2"
FINE = json.dumps({"score": 1.0, "reason": "The agent greeted and sold tea."})
POOR = json.dumps({"score": 0.4, "reason": 'It never asked "which tea?"'})

JUDGED = '''
"""Scenarios that need a judge."""
from pytest_voiceeval import SuccessSignal, register_eval_scenario
from .shop import ShopScenario


@register_eval_scenario
class Scored(ShopScenario):
    """A score decides."""

    name = "judged__scored"
    success_signals = (SuccessSignal.JUDGE_PASSED, SuccessSignal.CLEAN_EXIT)


@register_eval_scenario
class Asserted(ShopScenario):
    """Statements decide."""

    name = "judged__asserted"
    success_signals = (SuccessSignal.NL_ASSERTION, SuccessSignal.CLEAN_EXIT)
    nl_assertions = ["The agent greets.", "The agent names a price."]
'''


@pytest.fixture(autouse=True)
def judged(
    project: pytest.Pytester, write: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("scenarios/judged.py", JUDGED)
    for name in ("JUDGE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def options(server: JudgeServer, scenario: str, *more: str) -> list[str]:
    return [
        f"--voice-scenarios={scenario}",
        f"--voice-judge-url={server.url}",
        "--voice-judge-model=scripted",
        "--voice-min-agent-turns=0",
        *more,
    ]


def read(root: Path, name: str) -> Any:
    (path,) = root.glob(f"eval_results/eval_*/{name}")
    return json.loads(path.read_text(encoding="utf-8"))


def verdicts(*passed: bool) -> str:
    entries = [{"index": n + 1, "passed": ok, "reason": f"so {n + 1}"} for n, ok in enumerate(passed)]
    return json.dumps({"score": 0.9, "reason": "mixed", "nl_assertion_verdicts": entries})


def test_a_score_at_the_threshold_passes_and_is_in_all_files(project: pytest.Pytester) -> None:
    with JudgeServer(FINE) as server:
        result = project.runpytest(*options(server, "judged__scored", "--junitxml=junit.xml"))
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["  judge:      score 1"])
    metrics = read(project.path, "judged__scored/metrics.json")
    assert (metrics["judge_score"], metrics["judge_passed"]) == (1.0, True)
    keys = list(metrics)
    assert keys.index("is_action_match") < keys.index("judge_score") < keys.index("token_usage")
    assert not {"judge_error", "judge_spread", "unjudged", "nl_assertion_pass_rate"} & set(keys)
    stored = read(project.path, "judged__scored/judge_result.json")
    messages = server.requests[0].body["messages"]
    assert stored["judge_input"] == {
        "system_prompt": messages[0]["content"],
        "user_content": messages[1]["content"],
    }
    (case,) = ET.parse(project.path / "junit.xml").iter("testcase")
    properties = {p.get("name"): p.get("value") for p in case.iter("property")}
    assert (properties["voice_judge_score"], properties["voice_judge_passed"]) == ("1.0", "passed")
    summary = next(project.path.glob("eval_results/*/all_summary.txt")).read_text(encoding="utf-8")
    assert "Judge score mean:            1.000 (across 1 scenarios)" in summary


def test_a_score_below_the_threshold_fails_with_the_judges_reason(project: pytest.Pytester) -> None:
    with JudgeServer(POOR) as server:
        result = project.runpytest(*options(server, "judged__scored"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "judge_passed failed in judged__scored",
            "  judge_passed       FAILED",
            "      expected a score of at least 0.9, found 0.4",
            '      It never asked "which tea[?]"',
            "  clean_exit         passed",
        ]
    )
    assert read(project.path, "judged__scored/metrics.json")["judge_passed"] is False


def test_the_threshold_can_be_set(project: pytest.Pytester) -> None:
    with JudgeServer(POOR) as server:
        result = project.runpytest(*options(server, "judged__scored", "--voice-judge-threshold=0.4"))
    result.assert_outcomes(passed=1)


def test_assertions_that_do_not_hold_are_listed(project: pytest.Pytester) -> None:
    with JudgeServer(verdicts(True, False)) as server:
        result = project.runpytest(*options(server, "judged__asserted"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "  nl_assertion       FAILED",
            "      2. The agent names a price.: so 2",
            "  clean_exit         passed",
        ]
    )
    result.stdout.no_fnmatch_line("*1. The agent greets*")
    assert read(project.path, "judged__asserted/metrics.json")["nl_assertion_pass_rate"] == 0.5
    stored = read(project.path, "judged__asserted/judge_result.json")
    assert [v["passed"] for v in stored["nl_assertion_verdicts"]] == [True, False]
    (summary,) = project.path.glob("eval_results/*/all_summary.txt")
    assert "NL-Assertion pass:            50.00% (1/2 assertions)" in summary.read_text(encoding="utf-8")


BROKEN = {
    "http": (JudgeReply("out of order", status=400), "answered HTTP 400: *out of order*"),
    "busy": (JudgeReply("busy", status=503, headers={"retry-after-ms": "1"}), "answered HTTP 503: *"),
    "hangs": (JudgeReply(hangs=True), "gave no reply within 1 s*"),
    "cut off": (JudgeReply(FINE, finish_reason="length"), "was cut off at its longest reply*"),
    "empty": (JudgeReply(""), "gave an empty reply*"),
    "no json": (JudgeReply("I liked it."), "*reply has no verdict*"),
    "half": (JudgeReply('{"score": 0.9, "rea'), "*reply breaks off*"),
    "out of range": (JudgeReply('{"score": 9}'), "*score is 9, not a number from 0 to 1*"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_judge_is_an_error_where_it_decides(project: pytest.Pytester, fault: str) -> None:
    reply, told = BROKEN[fault]
    timeout = "--voice-judge-timeout=" + ("1" if reply.hangs else "60")
    with JudgeServer(reply) as server:
        result = project.runpytest(*options(server, "judged__scored", timeout, "--junitxml=junit.xml"))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of judged__scored*",
            f"judged__scored: judge_passed could not be determined: the judge*{told}",
            "  artefacts: eval_results/eval_*/judged__scored",
            "judged__scored  error *[[]EXIT[]]",
            "  judge:      error: the judge*",
            "voice scenarios: 0 passed, 0 failed, 0 skipped, 1 error",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*fixtures.py*")
    metrics = read(project.path, "judged__scored/metrics.json")
    assert (metrics["verdict"], metrics["is_successful"]) == ("error", "N/A")
    assert metrics["success_breakdown"]["error"] == ["judge_passed"]
    assert metrics["judge_error"]
    assert not {"judge_score", "judge_passed", "is_task_successful"} & set(metrics)
    stored = read(project.path, "judged__scored/judge_result.json")
    assert (stored["score"], stored["error"]) == (None, metrics["judge_error"])
    (case,) = ET.parse(project.path / "junit.xml").iter("testcase")
    assert case.find("error") is not None
    properties = {p.get("name"): p.get("value") for p in case.iter("property")}
    assert properties["voice_judge_passed"] == "error"
    summary = next(project.path.glob("eval_results/*/all_summary.txt")).read_text(encoding="utf-8")
    assert "Overall Success Rate: N/A" in summary
    assert "Without a verdict, in no rate: 1 error(s)" in summary
    assert "    Judge error: the judge" in summary
    assert "Judge passed" not in summary


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_a_broken_judge_that_does_not_decide_is_told_and_no_more(
    project: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    with JudgeServer(JudgeReply("no", status=400)) as server:
        result = project.runpytest(*options(server, "shop__good", *workers))
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["  judge:      error: the judge at *answered HTTP 400*"])
    metrics = read(project.path, "shop__good/metrics.json")
    assert (metrics["is_successful"], metrics["verdict"]) == (True, "passed")
    assert "HTTP 400" in metrics["judge_error"]
    assert "error" not in metrics["success_breakdown"]


def test_a_configured_judge_is_asked_of_every_scenario_and_decides_only_where_it_counts(
    project: pytest.Pytester,
) -> None:
    with JudgeServer(POOR) as server:
        result = project.runpytest(*options(server, "shop__good"))
    result.assert_outcomes(passed=1)
    assert len(server.requests) == 1
    metrics = read(project.path, "shop__good/metrics.json")
    assert metrics["judge_score"] == 0.4
    assert metrics["success_breakdown"]["excluded"] == ["judge_passed"]


def test_without_a_judge_what_is_not_judged_is_told(
    project: pytest.Pytester,
) -> None:
    result = project.runpytest("--voice-scenarios=judged", "--voice-min-agent-turns=0")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["not judged in 2 scenario(s): judge_passed, nl_assertion; no judge is configured (*"]
    )
    metrics = read(project.path, "judged__scored/metrics.json")
    assert metrics["unjudged"] == ["judge_passed"]
    assert "judge_score" not in metrics
    assert not list(project.path.glob("eval_results/*/*/judge_result.json"))
    (summary,) = project.path.glob("eval_results/*/all_summary.txt")
    assert "WARNING: not judged in 2 scenario(s)" in summary.read_text(encoding="utf-8")


ONLY_JUDGED = """
from pytest_voiceeval import SuccessSignal, register_eval_scenario
from .shop import ShopScenario


@register_eval_scenario
class OnlyJudged(ShopScenario):
    name = "alone__judged"
    success_signals = (SuccessSignal.JUDGE_PASSED,)
"""


def test_a_scenario_that_only_a_judge_could_score_is_skipped_without_one_before_the_call(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write("scenarios/alone.py", ONLY_JUDGED)
    with project.path.joinpath("conftest.py").open("a") as conftest:
        conftest.write(
            "\n\n@pytest.fixture\ndef voice_conversation(voice_scenario):\n"
            "    raise AssertionError('a call was held')\n"
        )
    result = project.runpytest("--voice-scenarios=alone", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        [
            "voice scenarios: 0 passed, 0 failed, 1 skipped, 0 errors*",
            "SKIPPED [[]1[]] scenarios/alone.py:5: alone__judged: there is nothing to score by "
            "(judge_passed: no judge is configured (--voice-judge-url and*",
        ]
    )


def test_samples_are_stored_with_their_spread(project: pytest.Pytester) -> None:
    replies = [json.dumps({"score": score, "reason": str(score)}) for score in (0.5, 0.95, 1.0)]
    with JudgeServer(*replies) as server:
        result = project.runpytest(*options(server, "judged__scored", "--voice-judge-samples=3"))
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["  judge:      score 0.95 (scores of its samples are 0.5 apart)"])
    metrics = read(project.path, "judged__scored/metrics.json")
    assert (metrics["judge_score"], metrics["judge_spread"]) == (0.95, 0.5)
    stored = read(project.path, "judged__scored/judge_result.json")
    assert (len(stored["samples"]), stored["spread"]) == (3, 0.5)


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_the_key_is_in_no_file_no_output_and_no_report(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", CANARY)
    replies = (
        JudgeReply(f"wrong key: {CANARY}", status=401),
        JudgeReply(f"{CANARY} {FINE}"),
        JudgeReply(POOR),
    )
    with JudgeServer(*replies) as server:
        result = project.runpytest(
            *options(server, "judged,shop__good", "--voice-judge-api-key-env=SECRET_OF_MINE"),
            *("--junitxml=junit.xml", "-rA", "-vv", "--showlocals", "-o", "log_level=DEBUG", *workers),
        )
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {CANARY}"}
    assert len(result.errlines + result.outlines) > 20
    assert CANARY not in str(result.stdout) + str(result.stderr)
    files = [path for path in project.path.rglob("*") if path.is_file()]
    assert any(path.name == "judge_result.json" for path in files)
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]


def test_an_endpoint_elsewhere_without_a_key_is_a_usage_error_before_anything_runs(
    project: pytest.Pytester,
) -> None:
    given = ("--voice-judge-url=https://judge.example/v1", "--voice-judge-model=m")
    result = project.runpytest("--voice-scenarios=judged", *given)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*--voice-judge-url=https://judge.example/v1: no key for *the environment variable JUDGE_API_KEY "
            "is not set; put the key there*--voice-judge-api-key-env*"
        ]
    )
    project.runpytest("--voice-scenarios=judged", "--collect-only", *given).assert_outcomes()
    project.runpytest(*given).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ("--voice-judge-url=localhost:8000", "localhost:8000: write an http:// or https:// URL, such as *"),
        ("--voice-judge-threshold=1.1", "write a number from 0 to 1, such as 0.9"),
        ("--voice-judge-threshold=nan", "write a number from 0 to 1, such as 0.9"),
        ("--voice-judge-timeout=0", "write a number of seconds above 0, such as 45 or 2.5"),
        ("--voice-judge-temperature=hot", "write a number, such as 0.7, or none"),
        ("--voice-judge-top-p=2", "write a number from 0 to 1, such as 0.9, or none"),
        ("--voice-judge-seed=1.5", "write a whole number, such as 42, or none"),
        ("--voice-judge-max-tokens=0", "write a whole number above 0, such as 40, or none"),
        ("--voice-judge-thinking-token-budget=-5", "write a whole number above 0, such as 40, or none"),
        ("--voice-judge-context-message-limit=many", "write a whole number above 0, such as 40"),
        ("--voice-judge-context-system-string-limit=0", "write a whole number above 0, such as 40"),
        ("--voice-judge-context-string-limit=2.5", "write a whole number above 0, such as 40"),
        ("--voice-judge-samples=0", "write a whole number above 0, such as 40"),
        (
            "--voice-judge-api-key-env=sk-abc",
            "write the name of an environment variable, never the key itself",
        ),
        ("--voice-judge-url=http://127.0.0.1/v1", "name its model too, with --voice-judge-model"),
        ("--voice-judge-model=m", "say where it is too, with --voice-judge-url"),
        (
            "--voice-conversation-end-policy=lenient",
            "no conversation-end policy 'lenient'; choose one of: *",
        ),
    ],
)
def test_a_value_that_makes_no_sense_is_a_usage_error(
    project: pytest.Pytester, flags: str, told: str
) -> None:
    result = project.runpytest(flags)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{flags}: {told.removeprefix('localhost:8000: ')}"])
    result.stderr.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize("url", [f"https://me:{CANARY}@host/v1", f"https://host/v1?key={CANARY}"])
def test_a_secret_in_the_url_is_refused_and_not_repeated(project: pytest.Pytester, url: str) -> None:
    project.makeini(f"[pytest]\nvoice_judge_url = {url}\nvoice_judge_model = m\n")
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*voice_judge_url: a URL is written to files and logs, so no key*"])
    assert CANARY not in str(result.stderr) + str(result.stdout)


def test_the_judge_of_the_ini_file_can_be_switched_off(project: pytest.Pytester) -> None:
    with JudgeServer(POOR) as server:
        project.makeini(f"[pytest]\nvoice_judge_url = {server.url}\nvoice_judge_model = m\n")
        chosen = ("--voice-scenarios=judged__scored", "--voice-min-agent-turns=0")
        project.runpytest(*chosen).assert_outcomes(failed=1)
        project.runpytest(*chosen, "--voice-judge-url=").assert_outcomes(passed=1)
    assert len(server.requests) == 1


def test_what_the_judge_needs_is_imported_before_calls_are_held(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write(
        "tests/test_judge.py",
        "import sys\n\n"
        "def test_judge(request):\n"
        "    assert 'openai' not in sys.modules\n"
        "    assert request.getfixturevalue('voice_judge') is not None\n"
        "    assert 'openai' in sys.modules\n",
    )
    flags = ("--voice-judge-url=http://127.0.0.1:9/v1", "--voice-judge-model=m", "-W", "error")
    project.runpytest_subprocess("tests/test_judge.py", *flags).assert_outcomes(passed=1)


def test_a_judge_of_ones_own_can_be_put_in(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write(
        "scenarios/conftest.py",
        "import pytest\n"
        "from pytest_voiceeval.testing import FakeJudge\n\n"
        "@pytest.fixture(scope='session')\n"
        "def voice_judge():\n"
        "    scores = {'judged__scored': 0.3, 'judged__asserted': 1.0}\n"
        "    return FakeJudge(scores, reason='mine', failing=[2])\n",
    )
    result = project.runpytest("--voice-scenarios=judged", "--voice-min-agent-turns=0")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "      expected a score of at least 0.9, found 0.3",
            "      mine",
            "      2. The agent names a price.: mine",
        ],
    )


def test_a_judge_of_ones_own_may_say_that_it_came_to_nothing(
    project: pytest.Pytester, write: Callable[[str, str], Path]
) -> None:
    write(
        "scenarios/conftest.py",
        "import pytest\n"
        "from pytest_voiceeval.errors import JudgeError\n\n"
        "class Mine:\n"
        "    def judge(self, scenario, conversation, *, strict_match=False):\n"
        "        raise JudgeError('I was asleep')\n\n"
        "@pytest.fixture(scope='session')\n"
        "def voice_judge():\n"
        "    return Mine()\n",
    )
    result = project.runpytest("--voice-scenarios=judged__scored", "--voice-min-agent-turns=0")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["judged__scored: judge_passed could not be determined: I was asleep"])


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        ("object()", "*is no judge: it has no method judge(scenario, conversation)"),
        (
            "type('Mine', (), {'judge': lambda *_, **__: 0.9})()",
            "the judge *Mine* returned 0.9; return a Judgement",
        ),
    ],
)
def test_what_is_no_judge_is_told_in_one_line(
    project: pytest.Pytester, write: Callable[[str, str], Path], judge: str, told: str
) -> None:
    text = f"import pytest\n\n@pytest.fixture(scope='session')\ndef voice_judge():\n    return {judge}\n"
    write("scenarios/conftest.py", text)
    result = project.runpytest("--voice-scenarios=shop__good", "--voice-min-agent-turns=0")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([told])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_allure_gets_the_judges_words(project: pytest.Pytester) -> None:
    pytest.importorskip("allure")
    with JudgeServer(FINE) as server:
        project.runpytest(*options(server, "judged__scored", "--alluredir=allure")).assert_outcomes(passed=1)
    (path,) = (project.path / "allure").glob("*-result.json")
    attached = {entry["name"] for entry in json.loads(path.read_text(encoding="utf-8"))["attachments"]}
    assert {"metrics", "judge"} <= attached


@pytest.mark.parametrize(("policy", "outcome"), [("tool-only", "failed"), ("valid-terminal-state", "passed")])
def test_the_policy_decides_what_a_clean_exit_is(
    project: pytest.Pytester, write: Callable[[str, str], Path], policy: str, outcome: str
) -> None:
    conftest = (project.path / "conftest.py").read_text(encoding="utf-8")
    silent = conftest.replace("StopReason.EXIT", "StopReason.INACTIVITY").replace(
        'Turn("agent", 3.5, 4.5, "Here it is."),', 'Turn("user", 3.5, 4.5, "Bye."),'
    )
    write("conftest.py", silent)
    result = project.runpytest(
        "--voice-scenarios=shop__good",
        "--voice-min-agent-turns=0",
        f"--voice-conversation-end-policy={policy}",
    )
    result.assert_outcomes(**{outcome: 1})
    assert read(project.path, "shop__good/metrics.json")["clean_exit"] is (outcome == "passed")
