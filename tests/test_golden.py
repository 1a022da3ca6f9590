"""The golden figures beside the repository hold, and the runner says what does not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from golden.__main__ import main
from golden.differences import EXCEPTIONS, NOT_BUILT
from golden.files import Case, read_cases
from golden.runner import is_built, outcome

from pytest_voiceeval.scenarios.packs import builtin_pack

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT.parent / "shared" / "golden"
SCORING = GOLDEN / "scoring_cases.jsonl"
WORLDS = sorted(path for path in GOLDEN.glob("*.json*") if path != SCORING)

ABSENT = pytest.mark.skip(reason=f"{GOLDEN} is absent")


def scoring_cases() -> list[Any]:
    if not SCORING.is_file():
        return [pytest.param(None, id="absent", marks=ABSENT)]
    return [pytest.param(case, id=case.id) for case in read_cases(SCORING)]


@pytest.mark.parametrize("case", scoring_cases())
def test_scoring_is_that_of_the_reference(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_DATA_ROOT", str(GOLDEN.parent / "data"))
    builtin_pack().load_tools()
    found = outcome(case)
    if found.state == "skipped":
        pytest.skip(found.reason)
    assert found.state in ("held", "excepted"), found.reason


@pytest.mark.parametrize("path", WORLDS or [pytest.param(None, marks=ABSENT)], ids=lambda p: p and p.stem)
def test_worlds_and_tools_are_those_of_the_reference(path: Path) -> None:
    # In a process of its own: packs read their tasks from the data root when they are imported.
    run = subprocess.run(
        [sys.executable, "-m", "tests.golden", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
    if skipped := re.search(r"^  skipped \d+: (.*)", run.stdout, flags=re.MULTILINE):
        pytest.skip(skipped[1])


@pytest.mark.parametrize("name", NOT_BUILT)
def test_what_is_skipped_is_not_there(name: str) -> None:
    builtin_pack().load()
    whole = is_built(name, "scoring case") or (
        is_built(name, "tool call") and is_built(name, "scenario record")
    )
    assert not whole, f"it is: remove {name} from NOT_BUILT"


@pytest.mark.skipif(not EXCEPTIONS, reason="there is no exception")
def test_exceptions_are_cases_that_do_differ() -> None:
    cases = {case.id: case for path in GOLDEN.glob("*.json*") for case in read_cases(path)}
    for name in EXCEPTIONS:
        assert name in cases, f"{name} is no case; remove it from EXCEPTIONS"
        assert outcome(cases[name]).state != "held", f"{name} holds; remove it from EXCEPTIONS"


def scoring(**fields: Any) -> dict[str, Any]:
    given = {"reference": "1", "prediction": "1"}
    return {
        "id": "mine",
        "function": "match_item",
        "input": given,
        "output": True,
        "compare": "exact",
    } | fields


def run_on(tmp_path: Path, *lines: Any) -> tuple[int, Path]:
    path = tmp_path / "golden" / "mine.jsonl"
    path.parent.mkdir(exist_ok=True)
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text(text, encoding="utf-8")
    return main([str(path)]), path


def test_a_file_in_which_all_holds_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_on(tmp_path, scoring(), scoring(id="again"))[0] == 0
    assert capsys.readouterr().out == "mine.jsonl: 2 of 2 held\n"


@pytest.mark.parametrize(
    ("case", "complaint"),
    [
        (scoring(output=False), "mine (mine.jsonl:2): found true, expected false"),
        (scoring(function="match_all"), "no runner for function 'match_all'; there are: match_str_and_float"),
        (scoring(compare="about"), "no way to compare by 'about'"),
        (scoring(input={"reference": 1}), "there is no field 'prediction'; there are: reference"),
        (scoring(input=7), "an object is wanted, not 7"),
        (
            scoring(input={"reference": 1, "prediction": 1, "soft": True}),
            "unexpected keyword argument 'soft'",
        ),
        ({"id": "x"}, "x (mine.jsonl:2): neither a scoring case, nor a tool call, nor a scenario record"),
        ({"function": "match_item"}, "mine.jsonl:2 (mine.jsonl:2): there is no field 'input'"),
        (
            scoring(function="compute_db_diff", input={"expected": 1, "actual": 2}, output={}),
            "raised TypeError",
        ),
        (
            {
                "id": "c",
                "domain": "mars",
                "db": "mars/db.json",
                "side": "agent",
                "tool": "T",
                "arguments": {},
            },
            "c (mine.jsonl:2): no database 'mars/db.json'",
        ),
        (
            {"id": "c", "domain": "mars", "db": None, "side": "agent", "tool": "T", "arguments": {}},
            "c (mine.jsonl:2): no tool 'T' in domain 'mars'; there are: EndConversationTool",
        ),
        (
            {"name": "mars__1", "success_signals": []},
            "mars__1 (mine.jsonl:2): no scenario 'mars__1'",
        ),
        (
            {"name": "restaurant__pizza_pepperoni", "tool_domain": "default", "moons": 2, "max_duration": 1},
            "moons: no field of a scenario record; max_duration: found 180, expected 1",
        ),
    ],
)
def test_what_does_not_hold_is_named_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: dict[str, Any], complaint: str
) -> None:
    code, _ = run_on(tmp_path, scoring(), case)
    out = capsys.readouterr().out
    assert code == 1
    assert out.startswith("mine.jsonl: 1 of 2 held, 1 did not\n")
    assert complaint in out


def test_a_case_of_what_is_not_built_is_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(NOT_BUILT, "match_all", "nobody needs it yet")
    assert run_on(tmp_path, scoring(), scoring(function="match_all", id="all"))[0] == 0
    assert "mine.jsonl: 1 of 2 held, 1 skipped" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "mine.jsonl:1: not JSON"),
        ("[1]", "mine.jsonl[1]: a case is an object, not int"),
        ("7", "mine.jsonl:1: a case is an object, not int"),
        ('{"scenarios": 3}', "'scenarios' is no list"),
        ("", "it holds no case"),
    ],
)
def test_a_file_of_another_form_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, complaint: str
) -> None:
    assert run_on(tmp_path, text)[0] == 1
    out = capsys.readouterr().out
    assert "mine.jsonl: error: " in out
    assert complaint in out


def test_a_file_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nowhere.jsonl"]) == 1
    assert "nowhere.jsonl: error: nowhere.jsonl: [Errno 2]" in capsys.readouterr().out


def test_it_runs_as_a_module(tmp_path: Path) -> None:
    _, path = run_on(tmp_path, scoring())
    command = [sys.executable, "-m", "tests.golden", str(path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "mine.jsonl: 1 of 1 held\n", "")
