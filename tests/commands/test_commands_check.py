from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_voiceeval.__main__ import main

MORE = """

@register_eval_scenario
class LendDune(LendEmma):
    name = "{domain}__dune"


class Forgotten(LendEmma):
    name = "{domain}__forgotten"
"""


def write_more(library: Path, name: str, text: str, folder: str = "scenarios") -> None:
    (library / folder / name).write_text(text, encoding="utf-8")


def test_a_sound_pack_is_told_in_one_line(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--pack", str(library)]) == 0
    assert capsys.readouterr().out == "checked 1 scenario: no faults, no notes\n"


SPLITS = """


@register_eval_scenario
class Easy(LendEmma):
    name = "{domain}__easy"
    splits = frozenset({{"base", "easy"}})


@register_eval_scenario
class Hard(LendEmma):
    name = "{domain}__hard"
    splits = frozenset({{"hard"}})
"""


@pytest.mark.parametrize(("split", "names"), [("base", "emma easy"), ("hard", "emma hard")])
def test_a_split_chooses_among_the_tasks_of_a_benchmark(
    library: Path, domain: str, capsys: pytest.CaptureFixture[str], split: str, names: str
) -> None:
    with (library / "scenarios" / "library.py").open("a", encoding="utf-8") as file:
        file.write(SPLITS.format(domain=domain))
    assert main(["check", "--pack", str(library), "--split", split, "--json", domain]) == 0
    checked = json.loads(capsys.readouterr().out)["scenarios"]
    assert checked == [f"{domain}__{name}" for name in names.split()]


@pytest.mark.parametrize(("split", "names"), [((), "emma easy hard"), (("--split", "easy"), "emma easy")])
def test_a_split_narrows_a_whole_pack_only_if_it_is_asked_for(
    library: Path, domain: str, capsys: pytest.CaptureFixture[str], split: tuple[str, ...], names: str
) -> None:
    with (library / "scenarios" / "library.py").open("a", encoding="utf-8") as file:
        file.write(SPLITS.format(domain=domain))
    assert main(["check", "--pack", str(library), *split, "--json"]) == 0
    checked = json.loads(capsys.readouterr().out)["scenarios"]
    assert checked == [f"{domain}__{name}" for name in names.split()]


def test_tasks_of_a_split_that_are_not_here_are_warned_of(
    library: Path,
    domain: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "root" / "tau2_telecom").mkdir(parents=True)
    (tmp_path / "root" / "tau2_telecom" / "split_tasks.json").write_text('{"hard": ["1", "2"]}')
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path / "root"))
    with (library / "scenarios" / "library.py").open("a", encoding="utf-8") as file:
        file.write(SPLITS.format(domain="tau2_telecom_workflow"))
    main(["check", "tau2_telecom_workflow__h*", "--pack", str(library), "--split", "hard", "--json"])
    warning = "the split 'hard' of tau2_telecom_workflow has 2 tasks, of which 1 are in the data here"
    assert capsys.readouterr().err == f"warning: {warning}\n"


def test_a_pack_in_which_nothing_is_registered_is_not_sound(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in (library / "scenarios").glob("*.py"):
        file.write_text("")
    assert main(["check", "--pack", str(library)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{library / 'scenarios'}: no file in it registers a scenario; put @register_eval_scenario above the "
        "class of each",
        "checked 0 scenarios: 1 fault, no notes",
    ]


def test_the_builtin_pack_is_sound(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "restaurant"]) == 0
    assert capsys.readouterr().out == "checked 11 scenarios: no faults, no notes\n"


def test_a_fault_has_file_and_line_and_makes_the_check_fail(
    library: Path, domain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = library / "scenarios" / "library.py"
    text = file.read_text(encoding="utf-8").replace(
        '"arguments": {"title": "Emma"}', '"arguments": {"title": "Dune"}'
    )
    file.write_text(text, encoding="utf-8")
    line = text.splitlines().index("@register_eval_scenario") + 1
    assert main(["check", "--pack", str(library)]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(
        f"{file}:{line}: {domain}__emma: its gold rehearsal does not pass: is_action_match: "
    )
    assert "Dune" in first
    assert last == "checked 1 scenario: 1 fault, no notes"


def test_one_scenario_can_be_chosen(library: Path, domain: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = library / "scenarios" / "library.py"
    file.write_text(file.read_text(encoding="utf-8") + MORE.format(domain=domain), encoding="utf-8")
    assert main(["check", "--pack", str(library), f"{domain}__dune"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert (
        f"{domain}__forgotten: the scenario is not registered; put @register_eval_scenario above it"
        in lines[0]
    )
    assert lines[1:] == ["checked 1 scenario: 1 fault, no notes"]


def test_files_that_cannot_be_imported_are_told_and_the_others_checked(
    library: Path, domain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_more(library, "broken.py", "import pytest_voiceeval\nregister_eval_scenario = 1 / 0\n")
    write_more(
        library,
        "skipped.py",
        "import pytest\npytest.importorskip('no_such_module')  # register_eval_scenario\n",
    )
    twin = SCENARIO_TWIN.format(domain=domain)
    write_more(library, "twin.py", twin)
    write_more(library, "broken_tool.py", "x =\n", folder="tools")
    assert main(["check", "--pack", str(library)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{library / 'tools' / 'broken_tool.py'}:1: SyntaxError: ")
    assert lines[1] == f"{library / 'scenarios' / 'broken.py'}:2: ZeroDivisionError: division by zero"
    assert (
        f"{library / 'scenarios' / 'skipped.py'}: note: the file skips itself: could not import" in lines[2]
    )
    assert f"scenario '{domain}__emma' is defined twice" in lines[3]
    assert lines[4:] == ["checked 1 scenario: 3 faults, 1 note"]


SCENARIO_TWIN = """
from pytest_voiceeval import register_eval_scenario
from .library import LibraryBase

@register_eval_scenario
class Twin(LibraryBase):
    name = "{domain}__emma"
"""


def test_json_has_the_scenarios_and_each_finding_in_parts(
    library: Path, domain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = library / "scenarios" / "library.py"
    file.write_text(file.read_text(encoding="utf-8").replace("max_duration = 60", ""), encoding="utf-8")
    assert main(["check", "--pack", str(library), "--json"]) == 1
    whole = json.loads(capsys.readouterr().out)
    assert whole["scenarios"] == [f"{domain}__emma"]
    assert (whole["faults"], whole["notes"]) == (1, 0)
    [finding] = whole["findings"]
    assert (finding["kind"], finding["file"], finding["scenario"]) == ("fault", str(file), f"{domain}__emma")
    assert isinstance(finding["line"], int)
    assert finding["what"].startswith("has no time limit")


def test_an_unknown_selector_is_told_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "restorant"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: no scenario or domain 'restorant'; did you mean 'restaurant'")


def test_the_output_is_clean_in_a_process_of_its_own(library: Path) -> None:
    command = [sys.executable, "-m", "pytest_voiceeval", "check", "--pack", str(library)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "checked 1 scenario: no faults, no notes\n"


def test_a_benchmark_without_data_is_noted_or_where_it_is_asked_for_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pytest_voiceeval.commands.check._found", lambda names, loaded: loaded)
        assert main(["check"]) == 0
    assert "note: the data of tau2_airline are not here" in capsys.readouterr().out
    for command in (["check", "tau2_airline"], ["describe", "tau2_airline__7"]):
        assert main(command) == 1
        error = capsys.readouterr().err
        assert error.startswith(
            "error: the data of tau2_airline are not here: no tau2_airline/tasks.json in "
        )
        assert error.endswith("or name their folder by --voice-data-root or EVAL_DATA_ROOT\n")
