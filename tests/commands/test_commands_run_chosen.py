"""What ``run`` is to hold, and what it takes of its arguments."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_voiceeval.__main__ import main
from pytest_voiceeval.commands.judge_arguments import add_judge_arguments, judge_settings

Run = Callable[..., int]


def test_scenarios_and_domains_are_listed(place: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list", "--scenarios", "kiosk", "stand__*") == 0
    assert capsys.readouterr().out.split() == ["kiosk__tea", "kiosk__coffee", "stand__juice"]
    assert run("--list-domains", "--scenarios", "kiosk", "stand") == 0
    assert capsys.readouterr().out.split() == ["kiosk", "stand"]
    assert not (place / "eval_results").exists()


@pytest.mark.parametrize("chosen", [("--domain", "bench"), ("--scenarios", "bench"), ()])
def test_a_domain_stands_for_the_tasks_of_a_split(
    run: Run, capsys: pytest.CaptureFixture[str], chosen: tuple[str, ...]
) -> None:
    for split, expected in (((), "bench__one"), (("--split", "test"), "bench__two")):
        assert run("--list", *chosen, *split) == 0
        listed = capsys.readouterr().out.split()
        assert [name for name in listed if name.startswith("bench__")] == [expected]


def test_a_run_of_scenarios_that_are_gone_is_not_gone_on_with_by_all(
    place: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = place / "eval_results" / "eval_20260102_030405"
    folder.mkdir(parents=True)
    start = {"resolved_scenario_names": ["kiosk__closed"]}
    (folder / "run_args.json").write_text(json.dumps({"invocations": [start]}))
    assert run("--resume", folder.name) == 1
    assert capsys.readouterr().err == (
        "error: --resume eval_20260102_030405: its run_args.json names no scenario that there is; say which "
        "to hold with --scenarios\n"
    )
    assert [path.name for path in folder.iterdir()] == ["run_args.json"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["--scenarios", "kiosk__te"],
            "error: no scenario or domain 'kiosk__te'; did you mean 'kiosk__tea'",
        ),
        (["--domain", "bench", "--split", "tset"], "error: bench has no split 'tset'; it has: base, test"),
        (["--domain", "kiosk", "--split", "test"], "error: no split 'test': kiosk has no splits; leave it "),
        (["--domain", "kiosk", "--output-dir", "afile"], "error: --output-dir afile: no folder can be made "),
        (["--domain", "kios"], "error: no scenario or domain 'kios'; did you mean 'kiosk'"),
        (["--resume", "20200101_000000"], "error: --resume 20200101_000000: no such run; there is none in"),
        (["--domain", "kiosk", "--agent", "lokal"], "error: no profile 'lokal'"),
        (["--domain", "kiosk", "--agent", "ws://"], "error: 'ws://' is no WebSocket URL"),
        (
            ["--domain", "kiosk", "--agent", "ws://127.0.0.1:9", "--clock", "charged"],
            "error: the clock 'charged' cannot be had with the agent ws://127.0.0.1:9",
        ),
        (
            ["--domain", "kiosk", "--judge-url", "http://127.0.0.1:9/v1"],
            "error: --judge-url http://127.0.0.1:9/v1: name its model too, with --judge-model",
        ),
        (["--domain", "kiosk", "--judge-model", "m"], "error: --judge-model m: say where it is too"),
        (
            ["--domain", "kiosk", "--judge-url", "ftp://x", "--judge-model", "m"],
            "error: write an http:// or https:// URL",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line_and_leaves_nothing(
    place: Path, run: Run, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    (place / "afile").touch()
    assert run(*arguments) == 1
    err = capsys.readouterr().err
    assert complaint in err
    assert len(err.splitlines()) == 1
    assert not list((place / "eval_results").glob("*"))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--judge-threshold", "2"], "'2' is not from 0 to 1"),
        (["--judge-top-p", "nan"], "'nan' is no number"),
        (["--judge-seed", "few"], "'few' is no whole number; write one, such as 42, or none"),
        (["--judge-timeout", "0"], "'0' is no time"),
        (["--judge-max-tokens", "0"], "'0' is too small"),
        (["--judge-api-key", "X"], "unrecognized arguments: --judge-api-key X"),
        (["--min-agent-turns", "few"], "'few' is no whole number"),
        (["--duration", "-1"], "'-1' is no time"),
    ],
)
def test_a_wrong_number_is_wrong_usage(
    place: Path, run: Run, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*arguments)
    assert caught.value.code == 2
    assert complaint in capsys.readouterr().err


def test_fields_of_the_judges_request_can_be_left_out() -> None:
    parser = argparse.ArgumentParser()
    add_judge_arguments(parser)
    names = ("temperature", "top_p", "seed", "max_tokens", "thinking_token_budget")
    words = [word for name in names for word in (f"--judge-{name.replace('_', '-')}", "none")]
    address = ["--judge-url", "http://127.0.0.1:9/v1", "--judge-model", "m"]
    settings = judge_settings(parser.parse_args([*address, *words]))
    assert settings is not None
    assert [getattr(settings, name) for name in names] == [None] * 5
    negative = judge_settings(parser.parse_args([*address, "--judge-seed", "-7"]))
    assert negative is not None
    assert negative.seed == -7


def test_a_run_that_is_none_cannot_be_looked_at(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resume", "nowhere"]) == 1
    assert capsys.readouterr().err.startswith("error: nowhere: no such run; there is none in eval_results")
