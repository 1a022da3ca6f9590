"""The folder of a run, and the files in it that sum its scenarios up."""

from __future__ import annotations

import csv
import io
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_voiceeval.model.safe_text import cell, visible
from pytest_voiceeval.run.files import claim_folder, read_json
from pytest_voiceeval.run.words import BROKEN_OFF, NOT_RUN, NOT_SCORED, SKIPPED
from pytest_voiceeval.world.files import refuse_planted, write_json, write_text

CSV_HEADER = ("Scenario", "User_Transcript", "Agent_Transcript", "Latency_ms")


@dataclass(frozen=True)
class Tally:
    """How many scenarios a run was to hold, and what became of those that are in no rate.

    Attributes:
        total: all that were selected.
        errors: came to no verdict through a fault of ours or of the environment.
        skipped: had nothing to score by, or were skipped.
        broken_off: were begun and not ended.
        not_scored: were held ahead of their turn, which never came.
        not_run: were never begun.
        retried: were held more than once; the last attempt counts.
        from_before: have their result from an earlier start of the run.
    """

    total: int
    errors: int = 0
    skipped: int = 0
    broken_off: int = 0
    not_scored: int = 0
    not_run: int = 0
    retried: int = 0
    from_before: int = 0

    def without_verdict(self) -> str:
        """Return how many came to no verdict, and why; empty if all did."""
        words = (
            (self.errors, "error(s)"),
            (self.skipped, SKIPPED),
            (self.broken_off, BROKEN_OFF),
            (self.not_scored, f"held and {NOT_SCORED}"),
            (self.not_run, NOT_RUN),
        )
        return ", ".join(f"{count} {word}" for count, word in words if count)


class RunFolder:
    """The folder of one run, made when the first scenario starts.

    Attributes:
        path: the folder; ``None`` while there is none.
        on_made: is told of the folder when this process has made it, or first uses it.
    """

    def __init__(self, output_dir: Path, agreed: Path | None = None) -> None:
        """Take the folder that several processes ``agreed`` on, or one of our own in ``output_dir``."""
        self._output_dir = output_dir
        self._agreed = agreed
        self._made: list[Path] = []
        self.path: Path | None = None
        self.on_made: Callable[[Path], object] | None = None

    def check(self) -> None:
        """See whether it can be made; nothing stays behind.

        Raises:
            OSError: if not.
        """
        wanted = self._agreed or self._output_dir
        refuse_planted(wanted)
        nearest = next(path for path in (wanted, *wanted.parents) if path.exists())
        with tempfile.TemporaryDirectory(dir=nearest):
            pass

    def open(self) -> Path:
        """Return the folder, made if it was not there yet."""
        if self.path is not None:
            return self.path
        refuse_planted(self._agreed or self._output_dir)
        if self._agreed:
            self._agreed.mkdir(parents=True, exist_ok=True)
            self.path = self._agreed
        else:
            self.path = claim_folder(self._output_dir / _stamped())
        if self.on_made is not None:
            self.on_made(self.path)
        return self.path

    def agree(self, *, is_needed: bool = True) -> Path:
        """Return the path that processes which share this run are to use, and no other run.

        The folder is made now, so that no other run can take it. One that is perhaps not needed is not
        made yet, and has a name that no other run comes upon.
        """
        refuse_planted(self._output_dir)
        if self._agreed is None and is_needed:
            self._made = [
                folder for folder in (self._output_dir, *self._output_dir.parents) if not folder.exists()
            ]
            self._agreed = claim_folder(self._output_dir / _stamped())
            self._made.insert(0, self._agreed)
        elif self._agreed is None:
            self._agreed = self._output_dir / f"{_stamped()}_{uuid.uuid4().hex[:12]}"
        return self._agreed

    def drop_if_empty(self) -> None:
        """Remove the folder that was made in advance, and its parents that were, if they are empty."""
        for folder in self._made:
            try:
                folder.rmdir()
            except OSError:  # it is not empty: it stays, and so do its parents
                return
            if folder == self.path:
                self.path = None
        self._made = []

    def find(self) -> Path | None:
        """Return the folder if this process or another of the run has made it."""
        if self.path is None and self._agreed and self._agreed.is_dir():
            self.path = self._agreed
        return self.path


def _stamped() -> str:
    return f"eval_{datetime.now():%Y%m%d_%H%M%S}"


def read_metrics(folders: Sequence[Path], min_agent_turns: int = 0) -> list[dict[str, Any]]:
    """Return what ``metrics.json`` of each folder holds; a folder without one is left out.

    The outcomes are those under this minimum, and the folders are where they are now.
    """
    from pytest_voiceeval.run.agent_turns import settled  # noqa: PLC0415 - light start

    contents = ((read_json(folder / "metrics.json"), folder) for folder in folders)
    return [
        settled(content | {"scenario_directory": str(folder)}, min_agent_turns)
        for content, folder in contents
        if isinstance(content, dict)
    ]


def write_session_files(
    folder: Path,
    records: Sequence[Mapping[str, Any]],
    *,
    tally: Tally,
    min_agent_turns: int = 0,
    warnings: Sequence[str] = (),
) -> None:
    """Write the run-level files.

    Args:
        folder: of the run.
        records: the metrics of its scenarios.
        tally: how many scenarios there were, and how many came to no verdict.
        min_agent_turns: how often an agent must have answered.
        warnings: what a reader must know of the results.

    Raises:
        StorageError: if one of them can't be written; the others are, if they can.
    """
    from pytest_voiceeval.run.summary import summary_text  # noqa: PLC0415 - a controller may need no scoring

    latencies, summary = latencies_csv(records), summary_text(records, tally, min_agent_turns, warnings)
    with ExitStack() as all_of_them:
        all_of_them.callback(write_text, folder / "all_summary.txt", visible(summary))
        all_of_them.callback(write_text, folder / "all_latencies.csv", latencies)
        all_of_them.callback(write_json, folder / "all_metrics.json", list(records))


def latencies_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Return one row a latency; texts in quotes and as cells hold them, milliseconds with one decimal."""
    from pytest_voiceeval.run.readable import readable  # noqa: PLC0415 - light start

    table = io.StringIO(newline="")
    table.write(",".join(CSV_HEADER) + "\n")
    writer = csv.writer(table, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    for record in map(readable, records):
        for entry in record.get("latencies", ()):
            texts = [record.get("scenario_name"), entry["user_transcript"], entry["agent_transcript"]]
            writer.writerow([*(cell(str(text)) for text in texts), _Milliseconds(entry["latency_ms"])])
    return table.getvalue()


class _Milliseconds(float):
    """A number that prints with one decimal."""

    def __str__(self) -> str:
        return f"{self:.1f}"

    __repr__ = __str__
