"""Texts that reports cannot hold, in every place at once and with all reporters at once."""

from __future__ import annotations

import csv
import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from canned_project import CONFTEST, run_folder

from pytest_voiceeval.model.safe_text import visible

Write = Callable[[str, str], Path]

ODD = (
    "A\0B\x07 \x1b[2J\x1b]0;own3d\x07 \x9b31m \ud800 ]]> </script> \u202ertl\u2069 \u200bzero e\u0301 "
    "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL} a\rb\nc"
)

TEXTS = f"""
ODD = {ODD!a}
"""

ODD_CALLS = (
    CONFTEST.replace('"""Canned calls."""', TEXTS)
    .replace('Turn("agent", 0.5, 1.5, "Welcome to the shop.")', 'Turn("agent", 0.5, 1.5, ODD)')
    .replace(
        'Turn("user", 2.0, 3.0, "One tea, please.")',
        'Turn("user", 2.0, 3.0, ODD), Turn("agent", 3.1, 3.4, "x" * 2_000_000 + ODD)',
    )
    .replace('BotUnreachableError("agent: ', 'BotUnreachableError(ODD + "agent: ')
    .replace("% tea,),", "% (ODD + tea).encode('unicode_escape').decode().replace('\\\\', '\\\\\\\\'),),")
    .replace(
        "context=[{", "context=[{'role': 'tool', 'tool_call_id': ODD, 'content': {'error': ODD, ODD: 1}}, {"
    )
    .replace(
        "        pushed=",
        "        events=(ODD, '[   1.000s] [AGENT] ' + ODD),\n"
        "        user=SideEvidence(db_hash=ODD, errors=(ODD,)),\n        pushed=",
    )
)

ALL = "--voice-scenarios=shop,bank__unscored,bank__unreachable"


def refuse(word: str) -> None:
    raise AssertionError(word)


def strings(value: Any) -> Iterator[str]:
    """Yield all texts of a JSON document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from (key, *strings(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def check_file(path: Path) -> None:
    """Fail unless a strict reader can read the file, and a terminal can show it."""
    if path.suffix == ".wav":
        return
    text = path.read_bytes().decode("utf-8")
    assert path.suffix == ".xml" or visible(text) == text, path
    if path.suffix == ".json":
        for string in strings(json.loads(text, parse_constant=refuse)):
            string.encode("utf-8")
    elif path.suffix == ".xml":
        ET.fromstring(text)
    elif path.suffix == ".csv":
        rows = list(csv.reader(text.splitlines(keepends=True), strict=True))
        assert len(rows) > 1
        assert {len(row) for row in rows} == {4}


def check_reports(result: pytest.RunResult, root: Path) -> set[str]:
    """Fail unless all that a run printed and wrote is readable; return the endings of its files."""
    result.assert_outcomes(failed=2, skipped=1, errors=1)
    shown = result.stdout.str() + result.stderr.str()
    assert visible(shown) == shown
    assert max(map(len, shown.splitlines())) < 10_000
    assert "\\x1b[2J" in shown
    assert "INTERNALERROR" not in shown
    places = (*run_folder(root).rglob("*"), *Path("out").rglob("*"))
    files = [path for path in places if path.is_file() and path.name != ".lock"]
    for path in files:
        check_file(path)
    return {path.suffix for path in files}


def test_reports_stay_readable_by_strict_readers(project: pytest.Pytester, write: Write) -> None:
    write("conftest.py", ODD_CALLS)
    result = project.runpytest(ALL, "-rA", "-v", "--junitxml=out/it.xml")
    assert check_reports(result, project.path) >= {".json", ".xml", ".csv", ".txt", ".wav"}


def test_so_do_those_of_all_reporters_at_once_with_workers(project: pytest.Pytester, write: Write) -> None:
    pytest.importorskip("xdist")
    pytest.importorskip("allure")
    write("conftest.py", ODD_CALLS)
    reporters = ("-rA", "-v", "--junitxml=out/it.xml", "--alluredir=out/allure")
    result = project.runpytest_subprocess(ALL, "-n2", *reporters, "-W", "error")
    check_reports(result, project.path)
    assert len(list(Path("out/allure").glob("*-result.json"))) == 4


def test_names_that_files_cannot_have_each_get_a_folder_of_their_own(
    project: pytest.Pytester, write: Write
) -> None:
    names = [
        "CON",
        "con.txt",
        "-rf",
        ".hidden",
        "../../up",
        "a:b?*",
        "long" * 75,
        "tea",
        "TEA",
        "caf\u00e9",
        "cafe\u0301",
    ]
    names += ["all_metrics.json", "x.attempt1", "x.killed.20260101_000000", "</script>]]>"]
    names += ["x.replaced.20260101_000000"]
    write(
        "scenarios/names.py",
        "from pytest_voiceeval import register_eval_scenario\nfrom .shop import ShopScenario\n"
        f"for name in {names!a}:\n"
        '    register_eval_scenario(type("Odd", (ShopScenario,), {"name": name}))\n',
    )
    result = project.runpytest("--voice-scenarios=names", "--junitxml=it.xml")
    result.assert_outcomes(passed=len(names))
    run = run_folder(project.path)
    folders = {path.name for path in run.iterdir() if path.is_dir()}
    assert len({folder.casefold() for folder in folders}) == len(names) - 1  # TEA is another one than tea
    cases = [case.get("name") for case in ET.parse(project.path / "it.xml").iter("testcase")]
    assert sorted(map(str, cases)) == sorted(names)
    assert len(json.loads((run / "all_metrics.json").read_text(encoding="utf-8"))) == len(names)
    again = project.runpytest(f"--voice-resume={run}")
    again.stdout.fnmatch_lines([f"voice scenarios: {len(names)} passed, *, {len(names)} from before;*"])


def test_a_name_that_acts_on_a_terminal_is_refused_where_it_is_given(
    project: pytest.Pytester, write: Write
) -> None:
    write(
        "scenarios/bad.py",
        "from pytest_voiceeval import register_eval_scenario\nfrom .shop import ShopScenario\n\n\n"
        "@register_eval_scenario\nclass Bad(ShopScenario):\n    name = 'bad__\\x1b[2J'\n",
    )
    result = project.runpytest("--voice-scenarios=bad")
    shown = result.stdout.str() + result.stderr.str()
    assert "bad.py: the name 'bad__\\x1b[2J' has characters that no report can show" in shown
    assert "Traceback" not in shown
    assert "\x1b" not in shown


@pytest.mark.skipif(sys.platform == "win32", reason="the locale C is one of POSIX")
def test_a_machine_that_knows_ascii_alone_holds_and_reports_all_the_same(
    project: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}.items():
        monkeypatch.setenv(name, value)
    write("conftest.py", ODD_CALLS)
    result = project.runpytest_subprocess("--voice-scenarios=shop", "-v", "--junitxml=out/it.xml")
    result.assert_outcomes(failed=2)
    run = run_folder(project.path)
    for path in (*run.rglob("*.json"), *run.glob("*.csv"), *run.glob("*.txt"), Path("out/it.xml")):
        check_file(path)
    write(
        "scenarios/names.py",
        "from pytest_voiceeval import register_eval_scenario\nfrom .shop import ShopScenario\n"
        'register_eval_scenario(type("Odd", (ShopScenario,), {"name": "caf\\u00e9"}))\n',
    )
    result = project.runpytest_subprocess("--voice-scenarios=names", "-v")
    result.stdout.fnmatch_lines(["*the name of scenario 'caf\\xe9' does not exist in *; set PYTHONUTF8=1*"])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
