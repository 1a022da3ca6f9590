"""Logs of commands, which are kept from growing without limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_voiceeval.bots import tether
from pytest_voiceeval.bots.last_words import last_words
from pytest_voiceeval.bots.tether import printed_bytes, shorten
from pytest_voiceeval.world.files import open_own


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tether, "MOST_BYTES", 1_000_000)
    monkeypatch.setattr(tether, "KEPT_BYTES", 200_000)


def lines(first: int, last: int) -> bytes:
    return b"".join(b"%09d\n" % number for number in range(first, last))


def write(log: Path, content: bytes) -> int:
    """Write ``content`` and shorten the log; return how much was ever written into it."""
    with open_own(log) as file:
        file.write(content)
        shorten(file.fileno())
        return printed_bytes(file.fileno())


def test_a_log_keeps_its_beginning_and_its_end_and_says_how_much_is_missing(tmp_path: Path) -> None:
    log = tmp_path / "bot.log"
    assert write(log, lines(0, 100_000)) == 1_000_000
    assert log.read_bytes() == lines(0, 100_000)
    assert write(log, lines(100_000, 100_001)) == 1_000_010
    kept = log.read_bytes()
    told = b"\n[...          600020 bytes were cut out here: no more is kept of so long a log ...]\n"
    assert kept == lines(0, 20_000) + told + lines(80_002, 100_001)


def test_a_log_that_is_shortened_again_counts_all_that_is_missing(tmp_path: Path) -> None:
    log = tmp_path / "bot.log"
    for begin in range(0, 500_000, 10_000):
        assert write(log, lines(begin, begin + 10_000)) == (begin + 10_000) * 10
        assert log.stat().st_size <= tether.MOST_BYTES
    kept = log.read_bytes()
    first, end = kept[:200_000], kept[200_000 + len(tether._CUT.format(0)) :]
    assert first == lines(0, 20_000)
    assert end == lines(500_000 - len(end) // 10, 500_000)
    assert b" %d bytes were cut out here" % (5_000_000 - len(first) - len(end)) in kept


def test_a_log_of_one_line_is_cut_inside_it(tmp_path: Path) -> None:
    log = tmp_path / "bot.log"
    assert write(log, b"x" * 2_000_000) == 2_000_000
    assert b" 1600000 bytes were cut out here" in log.read_bytes()


@pytest.mark.parametrize("before", [0, 10_000, 90_000])
@pytest.mark.parametrize("printed", [0, 5, 50_000, 150_000])
def test_last_words_are_those_since_the_start_however_the_log_was_cut(
    tmp_path: Path, before: int, printed: int
) -> None:
    log = tmp_path / "bot.log"
    start = write(log, lines(0, before))
    write(log, lines(1_000_000, 1_000_000 + printed))
    told = last_words(log, start, []).splitlines()
    expected = [f"{number:09d}" for number in range(1_000_000 + max(printed - 15, 0), 1_000_000 + printed)]
    assert told == ([f"Last lines of {log}:", *expected] if printed else [f"It printed nothing ({log})."])
