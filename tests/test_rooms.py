"""Which room may import which: the table of the design, held against the syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "pytest_voiceeval"

MAY_IMPORT = {
    "model": set(),
    "world": {"model"},
    "audio": {"model"},
    "wire": {"model"},
    "tools": {"model", "world", "wire"},
    "scenarios": {"model", "world", "tools", "builtin"},
    "bots": {"model", "world", "audio", "wire", "tools", "scenarios"},
    "bridge": {"model", "world", "audio", "wire", "scenarios"},
    "scoring": {"model", "world", "scenarios"},
    "run": {"model", "world", "audio", "wire", "tools", "scenarios", "bridge", "scoring"},
    "report": {"model", "run"},
    "plugin": {
        *("model", "world", "audio", "wire", "tools", "scenarios"),
        *("bots", "bridge", "scoring", "run", "report"),
    },
    "commands": {
        *("model", "world", "audio", "wire", "tools", "scenarios"),
        *("bots", "bridge", "scoring", "run", "report"),
    },
    "builtin": set(),
}

CLIENTS = {"scoring/judge.py", "scoring/judge_endpoint.py"}
"""The judge's client: what touches the world in a room that is pure otherwise."""

PURE = ("model", "audio", "scoring")
TOUCHING = {
    "os",
    "socket",
    "random",
    "time",
    "logging",
    "asyncio",
    "pathlib",
    "io",
    "subprocess",
    "threading",
}

ROOMS = sorted(path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__")


def imports(path: Path) -> Iterator[tuple[str, int, bool]]:
    """Yield each imported module with its line, and whether only a type checker imports it.

    A name of the package itself counts as the module of that name.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno, id(node) in typing_only
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: import whole names"
            names = [node.module or ""]
            if node.module == PACKAGE.name:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                yield name, node.lineno, id(node) in typing_only


def test_every_room_has_its_row() -> None:
    assert set(ROOMS) == set(MAY_IMPORT)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_its_row_names(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room, "errors"}
    assert not [
        f"{path.relative_to(PACKAGE)}:{found}"
        for path in (PACKAGE / room).rglob("*.py")
        for found in strangers(path, allowed)
    ]


def test_only_the_command_line_imports_the_commands() -> None:
    importers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for module, _, _ in imports(path)
        if module.startswith(f"{PACKAGE.name}.commands")
    }
    assert {name for name in importers if not name.startswith("commands/")} == {"__main__.py"}


def strangers(path: Path, allowed: set[str]) -> list[str]:
    """Return the imports of the package in ``path`` that are not of the ``allowed`` rooms."""
    return [
        f"{line}: {module}"
        for module, line, _ in imports(path)
        if module.split(".")[0] == PACKAGE.name and module.partition(".")[2].split(".")[0] not in allowed
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from pytest_voiceeval import bridge", ["1: pytest_voiceeval.bridge"]),
        ("from pytest_voiceeval import Scenario, errors", ["1: pytest_voiceeval.Scenario"]),
        ("import pytest_voiceeval", ["1: pytest_voiceeval"]),
        ("import pytest_voiceeval.run.files as f", ["1: pytest_voiceeval.run.files"]),
        ("def f():\n    from pytest_voiceeval.plugin import options", ["2: pytest_voiceeval.plugin"]),
        ("from pytest_voiceeval import model\nfrom pytest_voiceeval.model.turns import Turn", []),
        ("import pytest_voiceeval_other", []),
    ],
)
def test_no_way_to_import_is_overlooked(tmp_path: Path, text: str, found: list[str]) -> None:
    (tmp_path / "x.py").write_text(text, encoding="utf-8")
    assert strangers(tmp_path / "x.py", {"model", "errors"}) == found


@pytest.mark.parametrize("room", PURE)
def test_pure_rooms_touch_nothing(room: str) -> None:
    touching = [
        f"{path.relative_to(PACKAGE)}:{line}: {module}"
        for path in (PACKAGE / room).rglob("*.py")
        if path.relative_to(PACKAGE).as_posix() not in CLIENTS
        for module, line, typing_only in imports(path)
        if module.split(".")[0] in TOUCHING and not typing_only
    ]
    assert not touching


def test_nothing_of_pytests_inside_is_used() -> None:
    inside = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in PACKAGE.rglob("*.py")
        for module, line, _ in imports(path)
        if module.split(".")[0] == "_pytest"
    ]
    assert not inside


def test_packs_import_public_names_only() -> None:
    root = PACKAGE.parent
    for path in [*(root / "scenarios").glob("*.py"), *(root / "tools").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("pytest_v") for alias in node.names), (
                    f"{path}:{node.lineno}"
                )
            if (
                isinstance(node, ast.ImportFrom)
                and not node.level
                and (node.module or "").startswith("pytest_v")
            ):
                assert node.module in {"pytest_voiceeval", "pytest_voiceeval.tools"}, f"{path}:{node.lineno}"
