from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_voiceeval.errors import DataError
from pytest_voiceeval.world.documents import MAX_BYTES, load_document


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data root with two documents, beside a file that is nobody's business."""
    folder = tmp_path / "data"
    (folder / "manuals").mkdir(parents=True)
    (folder / "menu.txt").write_text("Tea: 1.50 €", encoding="utf-8")
    (folder / "manuals" / "returns.txt").write_text("Within 30 days.", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("the expected answer", encoding="utf-8")
    monkeypatch.setenv("EVAL_DATA_ROOT", str(folder))
    return folder


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("menu.txt", "Tea: 1.50 €"),
        ("manuals/returns.txt", "Within 30 days."),
        ("./manuals//returns.txt", "Within 30 days."),
    ],
)
def test_a_document_is_a_file_below_the_data_root(root: Path, path: str, text: str) -> None:
    assert load_document(path) == text


def test_the_first_folder_that_has_it_counts(root: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "menu.txt").write_text("Cake", encoding="utf-8")
    assert load_document("menu.txt", [own, root]) == "Cake"
    assert load_document("manuals/returns.txt", [own, root]) == "Within 30 days."
    with pytest.raises(DataError):
        load_document("menu.txt", [])


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "manuals/../../secret.txt",
        "manuals/../menu.txt",
        "/etc/passwd",
        "nothing.txt",
        "manuals",
        "",
        ".",
        "menu.txt/x",
        "a\0b",
        "x" * 5000,
        "out.txt",
        "away/secret.txt",
        "loop",
        "pipe",
    ],
)
def test_nothing_else_can_be_read_and_no_message_says_where_folders_lie(root: Path, path: str) -> None:
    (root / "out.txt").symlink_to(root.parent / "secret.txt")
    (root / "away").symlink_to(root.parent)
    (root / "loop").symlink_to(root / "loop")
    os.mkfifo(root / "pipe")
    with pytest.raises(DataError) as caught:
        load_document(path)
    assert str(root.parent) not in str(caught.value)


def test_an_absolute_path_is_refused_even_below_the_root(root: Path) -> None:
    with pytest.raises(DataError, match="is refused: write a path relative"):
        load_document(str(root / "menu.txt"))


def test_a_link_within_the_root_is_followed(root: Path) -> None:
    (root / "link.txt").symlink_to(root / "menu.txt")
    assert load_document("link.txt").startswith("Tea")


def test_what_is_too_large_or_no_text_says_so(root: Path) -> None:
    (root / "full.txt").write_bytes(b"x" * MAX_BYTES)
    assert len(load_document("full.txt")) == MAX_BYTES
    (root / "large.txt").write_bytes(b"x" * (MAX_BYTES + 1))
    with pytest.raises(DataError, match=f"'large.txt' is larger than {MAX_BYTES} bytes"):
        load_document("large.txt")
    for content in (b"\x89PNG\r\n\x1a\n", b"a\0b", "é".encode("latin-1")):
        (root / "picture.png").write_bytes(content)
        with pytest.raises(DataError, match=r"document 'picture.png' is no text in UTF-8"):
            load_document("picture.png")
    assert (root / "menu.txt").chmod(0) is None
    if not os.access(root / "menu.txt", os.R_OK):
        with pytest.raises(DataError, match="cannot be read"):
            load_document("menu.txt")
