from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.__main__ import main
from pytest_voiceeval.world.hashing import get_dict_hash

IN = {"books": {"Emma": "in", "Dune": "in"}}
LENT = {"books": {"Emma": "lent", "Dune": "in"}}
RECORD = {"action_type": "lend", "name": "lend", "arguments": {"title": "Emma"}, "result": "ok"}


def tool_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["tool", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_call_tells_what_it_returns_records_and_changes(
    library: Path, domain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tool", domain, "LendTool", '{"title": "Emma"}', "--pack", str(library)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"LendTool of domain {domain}, agent side, world of {domain}__emma"
    assert lines[2:4] == ["result:", "  {}"]
    assert lines[4:6] == ["the model gets:", "  {"]
    assert "recorded:" in lines
    assert lines[-2:] == [
        f"database: {get_dict_hash(IN)} → {get_dict_hash(LENT)}",
        '  books.Emma: "in" → "lent"',
    ]


def test_json_has_the_fields_of_a_recorded_call_and_the_diff(
    library: Path, domain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tool_json(capsys, domain, "LendTool", '{"title": "Emma"}', "--pack", str(library))
    announced = {"type": "action-applied", "action": RECORD, "tool_domain": domain}
    assert told == {
        "domain": domain,
        "side": "agent",
        "scenario": f"{domain}__emma",
        "tool": "LendTool",
        "arguments": {"title": "Emma"},
        "result": {},
        "delivered": {"status": "success", "results": {}, "message": "No matching records found."},
        "raised": False,
        "recorded": [RECORD],
        "sent": [announced],
        "ends_call": False,
        "db_hash_before": get_dict_hash(IN),
        "db_hash_after": get_dict_hash(LENT),
        "diff": ['books.Emma: "in" → "lent"'],
        "state_diff": [],
    }


@pytest.mark.parametrize("name", ["LendTool", "lend"])
def test_a_tool_goes_by_the_name_of_its_actions_too(
    library: Path, domain: str, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    told = tool_json(capsys, domain, name, '{"title": "Dune"}', "--pack", str(library))
    assert told["tool"] == "LendTool"


def test_each_call_has_a_fresh_world(library: Path, domain: str, capsys: pytest.CaptureFixture[str]) -> None:
    call = (domain, "LendTool", '{"title": "Emma"}', "--pack", str(library))
    assert tool_json(capsys, *call) == tool_json(capsys, *call)


def test_a_tool_that_raises_tells_what_the_model_gets(
    library: Path, domain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    call = (domain, "LendTool", '{"title": "Moby"}', "--pack", str(library))
    told = tool_json(capsys, *call)
    assert (told["raised"], told["result"]) == (True, {"error": "there is no Moby"})
    assert (told["recorded"], told["diff"], told["db_hash_before"]) == ([], [], told["db_hash_after"])
    assert main(["tool", *call]) == 0
    out = capsys.readouterr().out
    (file,) = (library / "tools").glob("*.py")
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if "raise ValueError" in text)
    raised = f"ValueError: there is no Moby ({file}:{line})"
    assert f'it raised {raised}\nthe model gets:\n  {{\n    "error": "there is no Moby"\n  }}' in out
    assert told["exception"] == raised
    assert out.endswith(f"database: {get_dict_hash(IN)}, unchanged\n")


@pytest.mark.parametrize("form", ["file", "folder", "artifact"])
def test_a_database_can_be_given(
    library: Path,
    domain: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    form: str,
) -> None:
    folder = tmp_path / "data" / "shelf"
    folder.mkdir(parents=True)
    (folder / "books.json").write_text(json.dumps({"Ulysses": "in"}), encoding="utf-8")
    (tmp_path / "data" / "all.json").write_text(json.dumps({"books": {"Ulysses": "in"}}), encoding="utf-8")
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path / "data"))
    path = {"file": str(tmp_path / "data" / "all.json"), "folder": str(folder), "artifact": "shelf"}[form]
    told = tool_json(capsys, domain, "LendTool", '{"title": "Ulysses"}', "--db", path, "--pack", str(library))
    assert told["diff"] == ['books.Ulysses: "in" → "lent"']
    assert told["scenario"] is None


def test_what_a_tool_keeps_beside_the_database_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    told = tool_json(capsys, "restaurant", "DropWaitListTool", '{"name": "Jack"}')
    assert told["scenario"] == "restaurant__waitlist_join_then_drop"
    assert told["state_diff"] == [
        'waitlist[9]: {"name": "Jack", "phone": "314-555-0161", "party_size": 3} → nothing'
    ]
    assert main(["tool", "restaurant", "DropWaitListTool", '{"name": "Jack"}']) == 0
    out = capsys.readouterr().out
    assert "sent:\n" in out
    assert "database: none, unchanged\nstate beside the database:\n  waitlist[9]: {" in out


def test_a_tool_that_ends_the_call_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert tool_json(capsys, "default", "EndConversationTool")["ends_call"] is True
    assert main(["tool", "default", "EndConversationTool"]) == 0
    assert "it ends the call\n" in capsys.readouterr().out


def test_a_scenario_can_be_named_for_its_world_and_its_constructor_arguments(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = tool_json(capsys, "restaurant", "GetMenuTool", "--scenario", "restaurant__burger_classic")
    assert "Burger" in told["result"]["menu"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["restorant", "GetMenuTool"], "no domain 'restorant'; did you mean 'restaurant'?"),
        (["mars", "GetMenuTool"], "no domain 'mars'; there are: default"),
        (
            ["restaurant", "GetMenuTol"],
            "no tool 'GetMenuTol' in domain 'restaurant'; did you mean 'GetMenuTool'",
        ),
        (
            ["restaurant", "GetMenuTool", "--scenario", "restaurant__burger_clasic"],
            "no scenario 'restaurant__burger_clasic'; did you mean 'restaurant__burger_classic'",
        ),
        (
            ["restaurant", "GetWaitlistTool", "--scenario", "restaurant__burger_classic"],
            "scenario restaurant__burger_classic has no tool 'GetWaitlistTool'; it has: GetMenuTool, ",
        ),
        (
            ["restaurant", "GetMenuTool", "--scenario", "restaurant__burger_classic", "--side", "user"],
            "the user of scenario restaurant__burger_classic has no tool 'GetMenuTool'; it has: none",
        ),
        (["restaurant", "GetMenuTool", "--db", "nowhere"], "--db nowhere: it is not at "),
    ],
)
def test_what_is_not_there_is_told_with_the_nearest(
    capsys: pytest.CaptureFixture[str], arguments: list[str], error: str
) -> None:
    assert main(["tool", *arguments]) == 1
    assert capsys.readouterr().err.startswith(f"error: {error}")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"a": 1 "b": 2}', "not JSON: Expecting ',' delimiter at line 1, column 9, before '\"b\": 2}'"),
        ('{"a": 1', "not JSON: Expecting ',' delimiter at line 1, column 8, before the end"),
        ("{'a': 1}", "Expecting property name enclosed in double quotes at line 1, column 2, before"),
        ('{"a": NaN}', "NaN is not a JSON value; write null or a number"),
        ("[1]", 'write a JSON object, such as {"id": "A123"}, not [1]'),
    ],
)
def test_arguments_that_are_no_object_are_refused_with_the_position(
    capsys: pytest.CaptureFixture[str], text: str, complaint: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["tool", "restaurant", "GetMenuTool", text])
    assert caught.value.code == 2
    assert complaint in capsys.readouterr().err


def test_a_database_that_is_not_json_is_told_with_the_position(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "db.json"
    path.write_text('{"a": 1,}', encoding="utf-8")
    assert main(["tool", "restaurant", "GetMenuTool", "--db", str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"error: {path}:1:")


PICKY = """
from pytest_voiceeval.tools import StandardSchemaTool, register_schema_tool_for_eval


@register_schema_tool_for_eval("{domain}")
class PickyTool(StandardSchemaTool):
    description = "Picky."
    properties = {{}}
    required_properties = []

    def __init__(self, *, beans):
        super().__init__()

    async def _execute(self):
        return 1
"""


def test_a_tool_that_needs_a_scenario_says_so(
    library: Path, domain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (library / "tools" / "picky.py").write_text(PICKY.format(domain=domain), encoding="utf-8")
    assert main(["tool", domain, "PickyTool", "--pack", str(library)]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: tool 'PickyTool' cannot be made without a scenario: ")
    assert "beans" in err
    assert err.endswith("; name one that has it with --scenario\n")


def test_the_output_is_json_and_nothing_else_in_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "pytest_voiceeval", "tool", "default", "EndConversationTool", "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert json.loads(run.stdout)["ends_call"] is True
