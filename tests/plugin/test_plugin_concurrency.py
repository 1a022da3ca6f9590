"""Several calls at once in one process, as pytest runs and tells it."""

from __future__ import annotations

import json
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from canned_project import run_folder
from concurrent_project import BOTS, SHOP

Write = Callable[[str, str], Path]
SHORT = ("-W", "error", "--voice-min-agent-turns=0", "--voice-inactivity-timeout=1")
FOUR = "--voice-concurrency=4"


@pytest.fixture
def shop(project: pytest.Pytester, write: Write) -> Iterator[pytest.Pytester]:
    """A shop of four scenarios, and bots that count calls; no thread is left of a run."""
    write("scenarios/shop.py", SHOP)
    (project.path / "scenarios" / "bank.py").unlink()
    write("conftest.py", BOTS)
    yield project
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("calls (")]


def notes(project: pytest.Pytester) -> list[str]:
    return (project.path / "notes.txt").read_text(encoding="utf-8").splitlines()


def most_at_once(project: pytest.Pytester) -> int:
    now = most = 0
    for line in notes(project):
        now += line.endswith(" begins") - line.endswith(" ends")
        most = max(most, now)
    return most


def held(project: pytest.Pytester) -> list[str]:
    return [line.removesuffix(" begins") for line in notes(project) if line.endswith(" begins")]


def change(project: pytest.Pytester, **values: str) -> None:
    text = (project.path / "conftest.py").read_text(encoding="utf-8")
    for name, value in values.items():
        before = next(line for line in text.splitlines() if line.startswith(f"{name} = "))
        text = text.replace(before, f"{name} = {value}")
    (project.path / "conftest.py").write_text(text, encoding="utf-8")


def test_calls_are_held_at_once_and_reported_in_order(shop: pytest.Pytester) -> None:
    change(shop, TOGETHER="4")  # no call goes on before four have begun
    result = shop.runpytest("--voice-scenarios=shop", FOUR, "--junitxml=junit.xml", "-v", *SHORT)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        [
            "voice scenarios: up to 4 calls at once in each process",
            *(f"scenarios/shop.py::shop__{name} PASSED*" for name in "abcd"),
            "voice scenarios: 4 passed, 0 failed, 0 skipped, 0 errors; 4 of 4 with a verdict passed",
        ]
    )
    result.stdout.no_fnmatch_line("*waited for their turn*")
    run = run_folder(shop.path)
    for name in "abcd":
        assert (run / f"shop__{name}" / "metrics.json").exists()
        assert (run / f"shop__{name}" / "bot_log.txt").exists()
    for case in ET.parse(shop.path / "junit.xml").iter("testcase"):
        found = {p.get("name"): p.get("value") for p in case.iter("property")}
        assert float(found["voice_call_seconds"]) > 0
        assert found["voice_artifacts"] == str(run / str(case.get("name")))


def test_no_more_than_asked_for_are_held_at_once(shop: pytest.Pytester) -> None:
    shop.runpytest("--voice-scenarios=shop", "--voice-concurrency=2", *SHORT).assert_outcomes(passed=4)
    assert most_at_once(shop) == 2


def test_without_the_option_one_call_follows_the_other(shop: pytest.Pytester) -> None:
    result = shop.runpytest("--voice-scenarios=shop", *SHORT)
    result.assert_outcomes(passed=4)
    result.stdout.no_fnmatch_line("*at once*")
    assert most_at_once(shop) == 1


def test_a_broken_a_mute_and_a_refused_call_leave_the_others_alone(shop: pytest.Pytester) -> None:
    change(
        shop,
        TOGETHER="4",
        SCRIPTS='{"shop__a": MUTE, "shop__b": BotProcessError("it has died"), "shop__c": OSError("no")}',
    )
    result = shop.runpytest("--voice-scenarios=shop", FOUR, *SHORT)
    result.assert_outcomes(passed=1, failed=1, errors=2)
    result.stdout.fnmatch_lines(
        [
            "*shop__a*failed*",
            "*shop__b*error*",
            "*shop__c*error*",
            "*shop__d*passed*",
        ]
    )
    result.stdout.fnmatch_lines(["ERROR scenarios/shop.py::shop__b - it has died*"])


def test_a_call_ends_while_the_thread_of_the_tests_is_busy(shop: pytest.Pytester, write: Write) -> None:
    change(shop, TOGETHER="2")
    judge = """
        import time
        from pytest_voiceeval import Judgement

        class Waiting:
            def judge(self, scenario, conversation, *, strict_match):
                while scenario.name == "shop__a" and "shop__d ends" not in NOTES.read_text():
                    time.sleep(0.01)
                return Judgement()

        @pytest.fixture(scope="session")
        def voice_judge():
            return Waiting()
    """
    conftest = shop.path / "conftest.py"
    lines = "\n".join(line.removeprefix("        ") for line in judge.splitlines())
    conftest.write_text(conftest.read_text(encoding="utf-8") + lines, encoding="utf-8")
    shop.runpytest("--voice-scenarios=shop", "--voice-concurrency=2", *SHORT).assert_outcomes(passed=4)


def test_calls_with_a_bot_that_takes_one_are_held_one_after_another(shop: pytest.Pytester) -> None:
    conftest = shop.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace("    concurrent_calls = 8\n", ""), encoding="utf-8")
    shop.runpytest("--voice-scenarios=shop", FOUR, *SHORT).assert_outcomes(passed=4)
    assert most_at_once(shop) == 1


def test_no_call_is_held_that_its_item_does_not_use(shop: pytest.Pytester, write: Write) -> None:
    marks = {
        "skip": "pytest.mark.skip",
        "skipif": "pytest.mark.skipif('True', reason='no')",
        "notrun": "pytest.mark.xfail(run=False)",
    }
    rows = "".join(
        f"register_eval_scenario(type('{n}', (ShopScenario,), {{'name': 'shop__{n}', 'pytestmark': {m}}}))\n"
        for n, m in marks.items()
    )
    judged = (
        "register_eval_scenario(type('judged', (ShopScenario,), "
        "{'name': 'shop__judged', 'success_signals': (SuccessSignal.JUDGE_PASSED,)}))\n"
    )
    write("scenarios/shop.py", SHOP + rows + judged)
    result = shop.runpytest("--voice-scenarios=shop", "-k", "not shop__b", FOUR, *SHORT)
    result.assert_outcomes(passed=3, skipped=3, xfailed=1, deselected=1)
    assert sorted(held(shop)) == ["shop__a", "shop__c", "shop__d"]


@pytest.mark.parametrize("flag", ["-x", "--sw"])
def test_calls_that_are_begun_when_the_run_stops_are_broken_off(shop: pytest.Pytester, flag: str) -> None:
    change(shop, TOGETHER="4", SCRIPTS='{"shop__a": OSError("no"), "shop__b": MUTE, "shop__c": MUTE}')
    result = shop.runpytest("--voice-scenarios=shop__a,shop__b,shop__c,shop__d", FOUR, flag, *SHORT[:-1])
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["shop__b*broken off", "shop__c*broken off"])
    assert notes(shop)[-1] == "agent closed"
    assert {line for line in notes(shop) if line.endswith(" ends")} >= {"shop__b ends", "shop__c ends"}


JUDGE = """
import time

class WaitsForAll:
    def judge(self, scenario, conversation, *, strict_match):
        while NOTES.read_text().count(" ends") < 3:
            time.sleep(0.05)
        raise OSError("broken")

@pytest.fixture(scope="session")
def voice_judge():
    return WaitsForAll()
"""


@pytest.mark.parametrize("workers", [(), ("-n1", "--dist=loadfile")], ids=["here", "xdist"])
def test_a_call_that_ended_ahead_of_its_turn_is_told_from_one_that_was_broken_off(
    shop: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    change(shop, TOGETHER="4", SCRIPTS='{"shop__c": [Utterance("Let me tell you.", 0.3, 300)] * 500}')
    conftest = shop.path / "conftest.py"
    conftest.write_text(conftest.read_text(encoding="utf-8") + JUDGE, encoding="utf-8")
    result = shop.runpytest("--voice-scenarios=shop", FOUR, "-x", *SHORT[:-1], *workers)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["shop__c  broken off", "voice scenarios: *"])
    lines = [line for line in result.outlines if line.startswith("shop__")]
    assert [line.split(maxsplit=1)[1] for line in lines[1:]] == ["not scored", "broken off", "not scored"]
    result.stdout.fnmatch_lines(["voice scenarios: *1 error, 1 broken off, 2 held and not scored"])
    run = run_folder(shop.path)
    assert "1 error(s), 1 broken off, 2 held and not scored\n" in (run / "all_summary.txt").read_text()
    change(shop, TOGETHER="1", SCRIPTS="{}")
    conftest.write_text(conftest.read_text(encoding="utf-8").replace(JUDGE, ""), encoding="utf-8")
    shop.runpytest(f"--voice-resume={run.name}", *SHORT).assert_outcomes(passed=4)
    aside = sorted(path.name.rpartition(".")[0] for path in run.iterdir() if path.name.count("."))
    assert [name for name in aside if name.startswith("shop")] == [
        *("shop__a.replaced", "shop__b.replaced", "shop__c.killed", "shop__d.replaced")
    ]


COUNTS = """
import gc
import time

def count():
    gc.collect()
    return sum(isinstance(each, Bot) and each.side == "agent" for each in gc.get_objects())

def pytest_runtest_logfinish():
    limit = time.monotonic() + 10
    while count() and time.monotonic() < limit:  # the thread of the calls lets go of them in its own time
        time.sleep(0.01)
    write(f"{count()} left")
"""


def test_bots_of_single_tests_are_let_go_when_these_are_over(shop: pytest.Pytester) -> None:
    conftest = shop.path / "conftest.py"
    wide, narrow = '@pytest.fixture(scope="session")\ndef voice_agent', "@pytest.fixture\ndef voice_agent"
    text = conftest.read_text(encoding="utf-8").replace(wide, narrow)
    conftest.write_text(text + COUNTS, encoding="utf-8")
    shop.runpytest("--voice-scenarios=shop", "--voice-concurrency=2", *SHORT).assert_outcomes(passed=4)
    assert [line for line in notes(shop) if line.endswith(" left")] == ["0 left"] * 4


RESET = """
@pytest.fixture(autouse=True)
def reset():
    pass
"""
OVERRIDE = """
@pytest.fixture
def voice_conversation(voice_conversation):
    return voice_conversation
"""
HOOK = """
def pytest_runtest_setup(item):
    pass
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (RESET, "the fixture reset (scope function) comes before the call"),
        (OVERRIDE, "the fixture voice_conversation is overridden"),
        (HOOK, "pytest_runtest_setup of a conftest.py comes before the call"),
    ],
    ids=["autouse", "override", "hook"],
)
def test_a_call_waits_for_its_turn_if_something_of_its_own_comes_before(
    shop: pytest.Pytester, text: str, reason: str
) -> None:
    conftest = shop.path / "conftest.py"
    conftest.write_text(conftest.read_text() + text, encoding="utf-8")
    result = shop.runpytest("--voice-scenarios=shop", FOUR, *SHORT)
    result.assert_outcomes(passed=4)
    assert most_at_once(shop) == 1
    result.stdout.fnmatch_lines([f"--voice-concurrency=4: 3 call(s) waited for their turn: {reason}"])


def test_on_the_charged_clock_calls_are_the_same_to_the_bit(shop: pytest.Pytester) -> None:
    change(shop, CLOCKS='("charged", "real")')
    sounds = []
    for flag in ("--voice-concurrency=1", FOUR):
        result = shop.runpytest("--voice-scenarios=shop", flag, f"--voice-output-dir={flag[-1]}", *SHORT)
        result.assert_outcomes(passed=4)
        found = sorted((shop.path / flag[-1]).glob("*/*/conversation_log.wav"))
        sounds.append([path.read_bytes() for path in found])
    assert sounds[0] == sounds[1]
    assert len(sounds[0]) == 4
    assert most_at_once(shop) == 1
    result.stdout.fnmatch_lines(
        ["*4 call(s) waited for their turn: on the clock charged calls are held one after another"]
    )


def test_a_run_goes_on_with_what_was_broken_off(shop: pytest.Pytester) -> None:
    change(shop, TOGETHER="4", SCRIPTS='{"shop__b": OSError("no"), "shop__c": MUTE}')
    first = shop.runpytest("--voice-scenarios=shop", FOUR, "-x", *SHORT[:-1])
    first.assert_outcomes(passed=1, errors=1)
    change(shop, TOGETHER="1", SCRIPTS="{}")
    (shop.path / "notes.txt").unlink()
    run = run_folder(shop.path)
    result = shop.runpytest(f"--voice-resume={run.name}", FOUR, *SHORT)
    result.assert_outcomes(passed=4)
    assert "shop__a" not in held(shop)
    assert len(json.loads((run / "all_metrics.json").read_text())) == 4


@pytest.mark.parametrize("dist", ["load", "worksteal"])
def test_each_worker_holds_several_calls(shop: pytest.Pytester, dist: str) -> None:
    result = shop.runpytest("--voice-scenarios=shop", "-n2", f"--dist={dist}", FOUR, *SHORT)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["voice scenarios: 4 passed, *"])
    run = run_folder(shop.path)
    assert sorted(p.name for p in run.iterdir() if p.is_dir()) == [f"shop__{n}" for n in "abcd"]
    assert most_at_once(shop) > 1


def test_an_item_that_is_run_again_has_a_new_call(shop: pytest.Pytester) -> None:
    pytest.importorskip("pytest_rerunfailures")
    change(shop, SCRIPTS='{"shop__b": MUTE}')
    result = shop.runpytest("--voice-scenarios=shop", FOUR, "--reruns=1", *SHORT)
    assert held(shop).count("shop__b") == 2
    result.stdout.fnmatch_lines(["*1 failed, 3 passed, 1 rerun*"])


def test_a_test_by_hand_has_its_call_beside_those_of_scenarios(shop: pytest.Pytester, write: Write) -> None:
    change(shop, TOGETHER="4")
    write(
        "tests/test_by_hand.py",
        "import pytest\n\n@pytest.mark.voice_scenario('shop__a')\n"
        "def test_tea(voice_conversation):\n    assert voice_conversation.turns\n",
    )
    files = ("scenarios/shop.py", "tests/test_by_hand.py")
    shop.runpytest(*files, FOUR, *SHORT).assert_outcomes(passed=5)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (
            ("--voice-concurrency=3",),
            "there are 2 URLs, and 3 calls are held at once; give 3 with commas*or run with "
            "--voice-concurrency=2",
        ),
        (
            ("--voice-concurrency=2", "-n2"),
            "there are 2 URLs, and 2 workers hold 2 calls each at once; give 4 with commas*or run with -n1",
        ),
        (("--voice-concurrency=0",), "write a whole number from 1, such as 4"),
        (("--voice-concurrency=many",), "write a whole number from 1, such as 4"),
    ],
)
def test_what_cannot_be_held_at_once_is_a_usage_error(
    project: pytest.Pytester, flags: tuple[str, ...], said: str
) -> None:
    urls = "--voice-agent=ws://127.0.0.1:1,ws://127.0.0.1:2"
    result = project.runpytest("--voice-scenarios=shop", urls, *flags)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{said}*"])
