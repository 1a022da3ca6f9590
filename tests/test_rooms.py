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
    "builtin": set(),
}

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
    """Yield each imported module with its line, and whether only a type checker imports it."""
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
            yield node.module or "", node.lineno, id(node) in typing_only


def test_every_room_has_its_row() -> None:
    assert set(ROOMS) == set(MAY_IMPORT)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_its_row_names(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room, "errors"}
    strangers = [
        f"{path.relative_to(PACKAGE)}:{line}: {module}"
        for path in (PACKAGE / room).rglob("*.py")
        for module, line, _ in imports(path)
        if module.startswith("pytest_voiceeval.") and module.split(".")[1] not in allowed
    ]
    assert not strangers


@pytest.mark.parametrize("room", PURE)
def test_pure_rooms_touch_nothing(room: str) -> None:
    touching = [
        f"{path.relative_to(PACKAGE)}:{line}: {module}"
        for path in (PACKAGE / room).rglob("*.py")
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
            if (
                isinstance(node, ast.ImportFrom)
                and not node.level
                and (node.module or "").startswith("pytest_v")
            ):
                assert node.module in {"pytest_voiceeval", "pytest_voiceeval.tools"}, f"{path}:{node.lineno}"
