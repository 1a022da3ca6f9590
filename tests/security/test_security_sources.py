"""What the sources must not do, held against their syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FOLDERS = ("pytest_voiceeval", "scenarios", "tools")

EVALUATING = {"eval", "exec", "compile", "__import__", "execfile"}
"""Built-in functions that run a text."""

MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "code", "codeop"}
"""Modules that make objects or code of bytes."""

METHODS = {
    ("yaml", "load"),
    ("yaml", "load_all"),
    ("yaml", "unsafe_load"),
    ("yaml", "full_load"),
    ("os", "system"),
    ("os", "popen"),
    ("tarfile", "open"),
    ("shutil", "unpack_archive"),
    ("numpy", "load"),
    ("np", "load"),
}
"""Functions that trust what they read, or hand it to a shell."""

ANY_ADDRESS = "0.0.0.0"


def faults(text: str) -> Iterator[str]:
    """Yield what a source does that it must not, each with its line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = (
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            )
            for name in names:
                if name.partition(".")[0] in MODULES:
                    yield f"{node.lineno}: {name}"
        elif isinstance(node, ast.Call):
            yield from _call_faults(node)
        elif isinstance(node, ast.Constant) and node.value == ANY_ADDRESS:
            yield f"{node.lineno}: {node.value}"


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]


def _call_faults(node: ast.Call) -> Iterator[str]:
    if isinstance(node.func, ast.Name) and node.func.id in EVALUATING:
        yield f"{node.lineno}: {node.func.id}"
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        if (node.func.value.id, node.func.attr) in METHODS:
            yield f"{node.lineno}: {node.func.value.id}.{node.func.attr}"
        if node.func.attr in ("extractall", "extract"):
            yield f"{node.lineno}: {node.func.attr}"
    for keyword in node.keywords:
        if keyword.arg == "shell" and not (
            isinstance(keyword.value, ast.Constant) and not keyword.value.value
        ):
            yield f"{node.lineno}: shell"


def test_nothing_is_evaluated_unpickled_or_given_to_a_shell_and_nobody_listens_everywhere() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{fault}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for fault in faults(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "eval('1')",
        "exec(text)",
        "import pickle",
        "from marshal import loads",
        "yaml.load(text)",
        "subprocess.run(command, shell=True)",
        "archive.extractall(folder)",
        "serve(session, '0.0.0.0')",
    ],
)
def test_each_of_these_would_be_found(text: str) -> None:
    assert len(list(faults(text))) == 1
