"""The folder of a run, and the files in it that sum its scenarios up."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_voiceeval.run.files import claim_folder, read_json
from pytest_voiceeval.world.files import write_json, write_text

CSV_HEADER = ("Scenario", "User_Transcript", "Agent_Transcript", "Latency_ms")


class RunFolder:
    """The folder of one run, made when the first scenario starts.

    Attributes:
        path: the folder; ``None`` while there is none.
    """

    def __init__(self, output_dir: Path, agreed: Path | None = None) -> None:
        """Take the folder that several processes ``agreed`` on, or one of our own in ``output_dir``."""
        self._output_dir = output_dir
        self._agreed = agreed
        self.path: Path | None = None

    def open(self) -> Path:
        """Return the folder, made if it was not there yet."""
        if self.path is None and self._agreed:
            self._agreed.mkdir(parents=True, exist_ok=True)
            self.path = self._agreed
        elif self.path is None:
            self.path = claim_folder(self._output_dir / _stamped())
        return self.path

    def agree(self) -> Path:
        """Return the path that processes which share this run are to use; nothing is made yet."""
        if self._agreed is None:
            wanted = self._output_dir / _stamped()
            self._agreed = wanted
            number = 1
            while self._agreed.exists():
                number += 1
                self._agreed = wanted.with_name(f"{wanted.name}.{number}")
        return self._agreed

    def find(self) -> Path | None:
        """Return the folder if this process or another of the run has made it."""
        if self.path is None and self._agreed and self._agreed.is_dir():
            self.path = self._agreed
        return self.path


def _stamped() -> str:
    return f"eval_{datetime.now():%Y%m%d_%H%M%S}"


def read_metrics(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """Return what ``metrics.json`` of each folder holds; a folder without one is left out."""
    contents = (read_json(folder / "metrics.json") for folder in folders)
    return [content for content in contents if isinstance(content, dict)]


def write_session_files(
    folder: Path,
    records: Sequence[Mapping[str, Any]],
    *,
    run_args: Mapping[str, Any],
    counts: Mapping[str, int],
) -> None:
    """Write the run-level files.

    Args:
        folder: of the run.
        records: the metrics of its scenarios.
        run_args: the record of this invocation.
        counts: scenarios by outcome; those without verdict stand beside the rates.
    """
    from pytest_voiceeval.run.summary import summary_text  # noqa: PLC0415 - a controller may need no scoring

    write_json(folder / "all_metrics.json", list(records))
    write_text(folder / "all_latencies.csv", latencies_csv(records))
    text = summary_text(
        records, total=sum(counts.values()), errors=counts.get("error", 0), skipped=counts.get("skipped", 0)
    )
    write_text(folder / "all_summary.txt", text)
    write_json(folder / "run_args.json", {"invocations": [run_args]})


def latencies_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Return one row a latency; texts in quotes, milliseconds with one decimal."""
    table = io.StringIO(newline="")
    table.write(",".join(CSV_HEADER) + "\n")
    writer = csv.writer(table, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    for record in records:
        for entry in record.get("latencies") or ():
            texts = [record.get("scenario_name"), entry["user_transcript"], entry["agent_transcript"]]
            writer.writerow([*map(str, texts), _Milliseconds(entry["latency_ms"])])
    return table.getvalue()


class _Milliseconds(float):
    """A number that prints with one decimal."""

    def __str__(self) -> str:
        return f"{self:.1f}"

    __repr__ = __str__
