from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pytest_voiceeval.plugin.expressions import parse
from pytest_voiceeval.plugin.options import OPTIONS


@pytest.mark.parametrize(
    ("flag", "remedy"),
    [
        ("--voice-duration=soon", "write a number of seconds above 0, such as 45 or 2.5"),
        ("--voice-duration=-1", "write a number of seconds*"),
        ("--voice-duration=nan", "write a number of seconds*"),
        ("--voice-inactivity-timeout=never", "write a number of seconds above 0, such as 45 or 2.5, or none"),
        ("--voice-connect-timeout=inf", "write a number of seconds*"),
        ("--voice-rehearsal=silver", "choose one of: gold, mute*"),
        ("--voice-agent=cmd:python bot.py", "put {port} where the command takes its port*"),
        ("--voice-agent=http://host", "write ws://host:port*"),
        ("--voice-output-dir= ", "write a value*"),
        ("--voice-scenarios=", "write a domain, a name, a glob or all"),
        ("--voice-scenarios=shop,,bank", "write a domain, a name, a glob or all"),
        ("--voice-duration=", "write a number of seconds above 0, such as 45 or 2.5"),
    ],
)
def test_a_bad_value_is_a_usage_error_with_the_flag_and_the_remedy(
    project: pytest.Pytester, flag: str, remedy: str
) -> None:
    result = project.runpytest(flag)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{flag}: {remedy}"])
    result.stderr.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_scenarios_may_be_chosen_several_times(project: pytest.Pytester, workers: str) -> None:
    twice = ("--voice-scenarios=shop__good", "--voice-scenarios", "bank__row1")
    project.runpytest(*twice, workers).assert_outcomes(passed=2)
    record = json.loads(next(project.path.glob("eval_results/*/run_args.json")).read_text(encoding="utf-8"))
    assert record["invocations"][0]["parsed_args"]["voice_scenarios"] == "shop__good,bank__row1"


def test_an_empty_ini_value_chooses_nothing(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nvoice_scenarios =\nvoice_duration =\n")
    project.runpytest().assert_outcomes(passed=1)


def test_a_bad_ini_value_is_named_by_its_key(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nvoice_strict_match = perhaps")
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*voice_strict_match=perhaps: write true or false"])


def test_an_unknown_profile_is_a_usage_error_before_anything_runs(project: pytest.Pytester) -> None:
    result = project.runpytest("--voice-scenarios=shop", "--voice-user=lokal")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--voice-user=lokal: *local*"])


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_place_where_no_folder_can_be_made_is_a_usage_error_before_anything_runs(
    project: pytest.Pytester, workers: str
) -> None:
    project.makefile(".txt", taken="a file")
    for place in ("taken.txt", "taken.txt/below"):
        result = project.runpytest("--voice-scenarios=shop", f"--voice-output-dir={place}", workers)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(
            [
                f"*--voice-output-dir=*{place}: no folder can be made there (Not a directory); "
                "name a folder that you may write in"
            ]
        )
        result.stderr.no_fnmatch_line("*Traceback*")
    project.runpytest("--voice-output-dir=taken.txt", "tests").assert_outcomes(passed=1)


def test_looking_at_the_place_of_the_results_leaves_nothing_there(project: pytest.Pytester) -> None:
    result = project.runpytest(
        "--voice-scenarios=shop__good", "--voice-output-dir=new/deep", "--deselect=scenarios"
    )
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert not (project.path / "new").exists()


def test_flag_beats_ini_beats_default(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nvoice_duration = 7\nvoice_inactivity_timeout = none\n")
    project.makepyfile(
        """
        def test_settings(voice_settings):
            assert voice_settings.duration == 8
            assert voice_settings.inactivity_timeout is None
            assert voice_settings.connect_timeout == 5
            assert voice_settings.strict_match
        """
    )
    for workers in ((), ("-n2",)):
        result = project.runpytest("--voice-duration=8", "--voice-strict-match", "-k", "settings", *workers)
        result.assert_outcomes(passed=1)


def test_every_option_is_in_the_help(project: pytest.Pytester) -> None:
    result = project.runpytest("--help")
    text = str(result.stdout)
    for option in OPTIONS:
        assert option.flag in text
        assert f"{option.key} ({'linelist' if option.is_lines else 'string'})" in text


def test_lists_are_printed_and_nothing_is_run(project: pytest.Pytester) -> None:
    result = project.runpytest("--voice-list")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["shop__good *Tea is ordered."])
    result = project.runpytest("--voice-list-domains", "-n2")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["restaurant  11 scenarios", "shop  2 scenarios", "bank  4 scenarios"])
    result.stdout.no_fnmatch_line("*test session starts*")


def test_a_list_has_what_is_selected(project: pytest.Pytester) -> None:
    result = project.runpytest("--voice-list", "--voice-scenarios=shop,bank__row1")
    assert [line.split()[0] for line in result.outlines] == ["shop__good", "shop__wrong_tea", "bank__row1"]
    result = project.runpytest("--voice-list-domains", "--voice-scenarios=bank")
    assert result.outlines == ["bank  4 scenarios"]
    result = project.runpytest("--voice-list", "--voice-scenarios=shopp")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--voice-scenarios=shopp: no scenario or domain 'shopp'; did you mean 'shop'*"]
    )


def test_too_few_urls_for_the_workers_is_a_usage_error(project: pytest.Pytester) -> None:
    result = project.runpytest("--voice-scenarios=shop", "-n2", "--voice-agent=ws://127.0.0.1:1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--voice-agent=ws://127.0.0.1:1: there is 1 URL, and 2 workers hold calls at once; give 2 *"]
    )


def test_each_worker_takes_a_url_of_its_own(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("n", range(6))
        def test_url(voice_agent, voice_user, n, worker_id):
            number = {"gw0": 1, "gw1": 2}[worker_id]
            assert voice_agent.url == f"ws://127.0.0.1:{number}"
            assert voice_user.url == f"ws://127.0.0.1:{number + 2}"
        """
    )
    result = project.runpytest(
        "-n2",
        "-k",
        "url",
        "--voice-agent=ws://127.0.0.1:1,ws://127.0.0.1:2",
        "--voice-user=ws://127.0.0.1:3,ws://127.0.0.1:4",
    )
    result.assert_outcomes(passed=6)


def test_importing_the_plugin_is_light() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import pytest_voiceeval.plugin\n"
        "heavy = {'numpy', 'pipecat', 'pydantic', 'openai', 'aiohttp', 'asyncio', 'yaml'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("text", "asked", "true_words", "holds"),
    [
        ("a and not b", {"a"}, {"a"}, True),
        ("a and not b", {"a"}, {"a", "b"}, False),
        ("not (a or not b)", {"b"}, {"b"}, True),
        ("a or b and c", {"a", "b", "c"}, {"b"}, False),
        ('slow(level="x") or c', {"slow", "c"}, {"slow"}, True),
    ],
)
def test_expressions(text: str, asked: set[str], true_words: set[str], holds: bool) -> None:
    expression = parse(text)
    assert expression is not None
    assert expression.asked == asked
    assert expression.holds(true_words.__contains__) is holds


@pytest.mark.parametrize("text", ["", "a b", "(a", "a and", "not", ")"])
def test_a_malformed_expression_is_left_to_pytest(text: str) -> None:
    assert parse(text) is None
