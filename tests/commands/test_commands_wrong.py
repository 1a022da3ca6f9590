"""What is written wrong on the command line, or lies wrong on the disk, is told in a line."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_voiceeval.__main__ import main
from pytest_voiceeval.bridge.parties import COLUMNS, ROWS

DEEP = "[" * 100_000
Err = Callable[..., str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands are typed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    (tmp_path / "a_file").touch()
    (tmp_path / "deep.yaml").write_text(DEEP)
    (tmp_path / "nothing.yaml").write_text("{}")
    return tmp_path


@pytest.fixture
def err(capsys: pytest.CaptureFixture[str]) -> Err:
    """Runs a command that fails, and returns what it says after ``error: ``."""

    def told(*arguments: str, code: int = 1) -> str:
        try:
            found = main(arguments)
        except SystemExit as exc:
            found = int(str(exc.code))
        out, text = capsys.readouterr()
        assert (found, out) == (code, "")
        assert "Traceback" not in text
        return text.rpartition("error: ")[2].strip()

    return told


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--output-dir", ""],
        ["run", "--agent-cwd", " "],
        ["resume", "x", "--output-dir", ""],
        ["merge", "x", "--output", ""],
        ["merge", "x", "--output-dir", ""],
        ["data", "pull", "tau2", "--from", ""],
        ["list", "--pack", ""],
    ],
)
def test_an_empty_path_is_not_this_folder(err: Err, arguments: list[str]) -> None:
    assert err(*arguments, code=2).endswith("the path is empty; write one, such as . for this folder")


def test_the_folder_of_a_pack_is_there_and_has_scenarios(err: Err) -> None:
    assert err("list", "--pack", "nowhere", code=2) == "argument --pack: there is no folder nowhere"
    assert err("list", "--pack", ".", code=2).startswith("argument --pack: .: no folder 'scenarios' in it")


@pytest.mark.parametrize(
    "command",
    [
        ["describe", "tearoom__tea"],
        ["check", "tearoom"],
        ["run", "--domain", "tearoom"],
        ["tool", "tearoom", "Brew"],
    ],
)
def test_who_types_a_name_in_the_folder_of_a_pack_is_told_how_it_is_known(
    here: Path, err: Err, command: list[str]
) -> None:
    hint = "; scenarios of this folder are known with --pack ."
    assert not err(*command).endswith(hint)
    (here / "scenarios").mkdir()
    (here / "scenarios" / "tearoom.py").write_text("from pytest_voiceeval import register_eval_scenario")
    assert err(*command).endswith(hint)
    assert not err(*command, "--pack", ".").endswith(hint)
    assert not err("resume", "nowhere").endswith(hint)


def test_an_empty_cache_folder_is_none(err: Err) -> None:
    assert err("bot", "--cache-dir", "", code=2).endswith("'' is no folder; write one, user, or none")


@pytest.mark.parametrize("command", ["resume", "merge"])
@pytest.mark.parametrize(
    ("run", "told"),
    [
        ("", ": write the timestamp, the name or the folder of a run"),
        ("a_file", "a_file: this is a file; name the folder that the run made"),
        ("nowhere", "nowhere: no such run; there is none in eval_results"),
    ],
)
def test_what_is_no_run_is_told(err: Err, command: str, run: str, told: str) -> None:
    assert err(command, run) == told


def test_a_run_whose_record_is_gone_is_not_called_complete(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = here / "eval_results" / "eval_20260101_000000" / "shop__tea"
    scenario.mkdir(parents=True)
    (scenario / "metrics.json").write_text('{"total_turns": 3, "stop_reason": "[EXIT]"}')
    for content in (b"\xff{", DEEP.encode(), b'{"invocations": 5}', None):
        record = scenario.parent / "run_args.json"
        record.unlink(missing_ok=True) if content is None else record.write_bytes(content)
        assert main(["resume", "20260101_000000"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[-2:] == [
            "completed: 1, rerun: 0, fresh: 0",
            "which scenarios it was to hold is not known: run_args.json is missing, or does not tell",
        ]


def test_a_merged_run_that_cannot_be_written_is_told_with_the_remedy(here: Path, err: Err) -> None:
    run = here / "eval_20260101_000000"
    run.mkdir()
    (run / "run_args.json").write_text('{"invocations": [{"resolved_scenario_names": []}]}')
    assert err("merge", run.name, "--output", "a_file/merged") == (
        f"{here / 'a_file' / 'merged'}: no folder can be made there: Not a directory; name one that you may "
        "write in"
    )


def test_one_thing_is_described_at_a_time(err: Err) -> None:
    told = "describe restaurant__pizza_pepperoni, or --protocols? Write one of them"
    assert err("describe", "restaurant__pizza_pepperoni", "--protocols") == told


def test_protocols_are_described_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "--protocols", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == list(ROWS)
    assert found["learns what was heard"] == {name: name == "twilio" for name in COLUMNS}


def test_arguments_of_a_tool_are_not_nested_for_ever(err: Err) -> None:
    told = "argument ARGUMENTS: not JSON that can be read: it is nested too deeply"
    assert err("tool", "default", "PlaceOrderTool", DEEP, code=2) == told


@pytest.mark.parametrize(
    ("profile", "told"),
    [
        ("", "no profile ''; write one of local, openai, or the path of a YAML file"),
        ("deep.yaml", "deep.yaml: nested too deeply to be read; write the sections stt, llm and tts"),
        ("nothing.yaml", "nothing.yaml: tts: missing; it is required"),
    ],
)
def test_a_profile_that_cannot_be_had_is_told(err: Err, profile: str, told: str) -> None:
    for command in (["bot", "--profile"], ["run", "--scenarios", "fastbite", "--agent"]):
        assert err(*command, profile).endswith(told)


def test_a_bot_tells_where_it_cannot_listen(err: Err) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = err("bot", "--port", str(port))
    assert told == (
        f"a bot cannot listen on 127.0.0.1, port {port}: Address already in use; choose another host or port"
    )


def test_a_bot_plays_one_of_two_sides(err: Err, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEEVAL_SIDE", "x")
    assert err("bot") == "VOICEEVAL_SIDE=x: write user or agent there, or as --side"


def test_data_cannot_be_stored_where_nobody_may_write(
    here: Path, err: Err, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = here / "source" / "eva_airline"
    source.mkdir(parents=True)
    (source / "eva_airline_dataset.jsonl").write_text('{"id": "1.1.2"}')
    (source / "airline_agent.yaml").touch()
    (source / "1.1.2.json").write_text("{}")
    monkeypatch.setenv("XDG_DATA_HOME", str(here / "a_file"))
    place = here / "a_file" / "pytest-voiceeval" / "data"
    told = err("data", "pull", "eva", "--from", "source")
    assert told.startswith(f"{place}: no folder can be made there: Not a directory; see to it that ")


@pytest.mark.parametrize("kind", ["deep", "folder"])
def test_data_of_one_domain_that_cannot_be_read_do_not_hide_those_of_others(
    here: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    data = here / "home" / "pytest-voiceeval" / "data"
    bad, good = data / "tau2_airline" / "tasks.json", data / "tau2_retail" / "tasks.json"
    good.parent.mkdir(parents=True)
    good.write_text('[{"id": "1"}]')
    if kind == "folder":
        bad.mkdir(parents=True)
    else:
        bad.parent.mkdir()
        bad.write_text(DEEP)
    assert main(["data", "list"]) == 0
    out = capsys.readouterr().out
    assert "tau2_airline: 0 tasks" in out
    assert "  tasks.json cannot be read: " in out
    assert "tau2_retail: 1 tasks" in out


def test_a_link_to_itself_in_place_of_data_does_not_hide_those_of_others(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = here / "home" / "pytest-voiceeval" / "data"
    (data / "tau2_retail").mkdir(parents=True)
    (data / "tau2_retail" / "tasks.json").write_text('[{"id": "1"}]')
    (data / "tau2_airline").symlink_to("tau2_airline")
    assert main(["data", "list"]) == 0
    out = capsys.readouterr().out
    assert "tau2_airline: " in out
    assert "tau2_retail: 1 tasks" in out


def test_a_data_root_that_is_none_is_told_once(err: Err, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", "nowhere")
    assert err("data", "list") == "EVAL_DATA_ROOT=nowhere: there is no such folder"


def test_a_file_that_the_system_refuses_is_told_by_its_name(here: Path, err: Err) -> None:
    source = here / "source" / "eva_airline"
    (source / "1.1.2.json").mkdir(parents=True)
    (source / "eva_airline_dataset.jsonl").write_text('{"id": "1.1.2"}')
    (source / "airline_agent.yaml").touch()
    assert err("data", "pull", "eva", "--from", "source") == ("source/eva_airline/1.1.2.json: Is a directory")
