from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.tools import get_schema_tool_for_eval

pytestmark = pytest.mark.usefixtures("builtin_tools")

DOCUMENTS = {
    "opening hours": {"path": "shop/hours.txt", "text": "Nine to five."},
    "prices": {"path": "shop/prices.txt", "text": None},
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data" / "shop").mkdir(parents=True)
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path / "data"))
    (tmp_path / "data" / "shop" / "prices.txt").write_text("Tea: 1.50", encoding="utf-8")
    (tmp_path / "data" / "gold.json").write_text("{}", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("no", encoding="utf-8")
    return tmp_path


def tool(documents: Any = None) -> Any:
    state = {} if documents is None else {"documents": documents}
    return get_schema_tool_for_eval("ReadFileTool", shared_state=state)


@pytest.mark.parametrize("wanted", ["shop/hours.txt", "opening hours"])
def test_a_document_of_the_scenario_is_read_by_path_or_name(call: Any, root: Path, wanted: str) -> None:
    assert call(tool(DOCUMENTS), file_path=wanted) == [
        ("result", {"file_path": wanted, "content": "Nine to five."})
    ]


def test_one_that_did_not_come_along_is_the_bots_own(call: Any, root: Path) -> None:
    [(_, result)] = call(tool(DOCUMENTS), file_path="prices")
    assert result == {"file_path": "prices", "content": "Tea: 1.50"}


@pytest.mark.parametrize("wanted", ["gold.json", "../secret.txt", "shop", "hours.txt"])
def test_nothing_but_the_scenarios_documents_is_read(call: Any, root: Path, wanted: str) -> None:
    [(_, result)] = call(tool(DOCUMENTS), file_path=wanted)
    assert result == {"error": f"there is no document {wanted!r}; there are: shop/hours.txt, shop/prices.txt"}


def test_without_documents_text_files_below_the_data_root_are_read_and_no_others(
    call: Any, root: Path
) -> None:
    [(_, result)] = call(tool(), file_path="gold.json")
    assert result == {"file_path": "gold.json", "content": "{}"}
    for wanted in ("../secret.txt", str(root / "secret.txt"), "/etc/passwd", "nothing.txt"):
        (_, result) = call(tool(), file_path=wanted)[-1]
        assert set(result) == {"error"}
        assert wanted in result["error"]


def test_a_call_without_a_path_and_one_for_an_empty_document_are_answered(call: Any, root: Path) -> None:
    assert call(tool())[-1] == ("result", {"error": "file_path is missing"})
    empty = {"note": {"path": "note.txt", "text": ""}}
    assert call(tool(empty), file_path="note")[-1] == ("result", {"file_path": "note", "content": ""})


def test_its_schema_asks_for_a_path() -> None:
    schema = get_schema_tool_for_eval("ReadFileTool").schema()
    assert (schema["name"], schema["required"], list(schema["properties"])) == (
        "ReadFileTool",
        ["file_path"],
        ["file_path"],
    )
