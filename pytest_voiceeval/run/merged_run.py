"""The folder of a run that is made of others: their files, and the files that sum them up."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_voiceeval.run.evaluation_log import FILE as EVALUATION_LOG
from pytest_voiceeval.run.files import claim_folder, read_json
from pytest_voiceeval.run.history import RUN_ARGS
from pytest_voiceeval.run.item_outcomes import ItemOutcome, tally_of
from pytest_voiceeval.run.lock import LOCK, RunLock
from pytest_voiceeval.run.merge import (
    MergeError,
    Source,
    check_complete,
    check_folders,
    common_minimum,
    differences,
    merged_outcomes,
    read_sources,
)
from pytest_voiceeval.run.resume import ATTEMPT, KILLED, REPLACED
from pytest_voiceeval.run.session import Tally, read_metrics, write_session_files
from pytest_voiceeval.world.files import write_json, write_text

MERGED = "merged.json"
"""Tells which runs a run was made of."""

METRICS = "metrics.json"
RECORDINGS = ".wav"
STAMP_LENGTH = len("2026-11-30 14:17:34")


@dataclass(frozen=True)
class Merged:
    """A run that is made of others.

    Attributes:
        folder: of it.
        tally: how many scenarios there are, and how many came to no verdict.
        warnings: what keeps results of the runs from comparing.
        was_there: it had been made before, of the same runs; nothing was written.
    """

    folder: Path
    tally: Tally
    warnings: tuple[str, ...] = ()
    was_there: bool = False


def merge_runs(
    folders: Sequence[Path],
    output: Path,
    *,
    min_agent_turns: int | None = None,
    with_recordings: bool = True,
    may_lack_results: bool = False,
) -> Merged:
    """Fold runs into one in a folder of its own; they stay as they are.

    Args:
        folders: of the runs.
        output: folder of the merged run; it must be empty, or not be there yet.
        min_agent_turns: how often an agent must have answered; ``None``: as in the runs.
        with_recordings: copy recordings, too.
        may_lack_results: take runs that did not come to their end; what they lack is counted as not run.

    Raises:
        MergeError: if they can't be one, or ``output`` holds something else.
        RunBusyError: if one of them still goes on.
    """
    check_folders(folders, output)
    with contextlib.ExitStack() as locks:
        for folder in folders:
            _keep_others_out(folder, locks)
        sources = read_sources(folders)
        if not may_lack_results:
            check_complete(sources)
        outcomes = merged_outcomes(sources)
        minimum = common_minimum(sources) if min_agent_turns is None else min_agent_turns
        merging = _Merging(sources, outcomes, output, minimum)
        if read_json(output / MERGED) == merging.made_of:
            return Merged(output, tally_of(o for _, o in outcomes.values()), was_there=True)
        with _claimed(output):
            return merging.write(with_recordings=with_recordings)


def _keep_others_out(folder: Path, locks: contextlib.ExitStack) -> None:
    """Hold a run's lock meanwhile; one that was never locked, or can't be written to, nobody works in."""
    if (folder / LOCK).exists():
        with contextlib.suppress(PermissionError):
            locks.callback(RunLock(folder).release)


@contextlib.contextmanager
def _claimed(output: Path) -> Iterator[None]:
    """Make the folder, and clear it if what is done then fails."""
    is_new = _claim(output)
    lock = RunLock(output)  # what another one writes there is not cleared
    try:
        yield
    except BaseException:
        _clear(output, is_new=is_new)
        raise
    finally:
        lock.release()


def _claim(output: Path) -> bool:
    """Make the folder; return whether it was not there."""
    try:
        output.mkdir(parents=True)
    except FileExistsError:
        if not output.is_dir() or any(output.iterdir()):
            raise MergeError(
                f"{output} is there already and was not made of these runs as they are; name a folder that "
                "is empty, or not there yet"
            ) from None
        return False
    except OSError as exc:
        raise MergeError(
            f"{output}: no folder can be made there: {exc.strerror}; name one that you may write in"
        ) from None
    return True


def _clear(output: Path, *, is_new: bool) -> None:
    """Remove what a merge that failed has written."""
    for path in output.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if is_new:
        output.rmdir()


class _Merging:
    """One merge, of runs that can be one."""

    def __init__(
        self,
        sources: Sequence[Source],
        outcomes: Mapping[str, tuple[Source, ItemOutcome]],
        output: Path,
        minimum: int,
    ) -> None:
        self._sources = sources
        self._outcomes = outcomes
        self._output = output
        self._minimum = minimum

    @property
    def made_of(self) -> dict[str, Any]:
        """What the merged run is known by: the runs that it is made of."""
        return {"runs": [{"name": s.folder.name, "sha256": s.fingerprint} for s in self._sources]}

    def write(self, *, with_recordings: bool) -> Merged:
        """Write everything, the record of what it is made of last."""
        folders: list[Path] = []
        results: dict[str, list[Path]] = {source.label: [] for source in self._sources}
        for source, outcome in sorted(
            self._outcomes.values(), key=lambda pair: (pair[1].scenario, pair[1].item, pair[1].folder or "")
        ):
            if (place := _inside(source.folder, outcome.folder)) is not None:
                copied = _copy(place, self._output, with_recordings=with_recordings)
                results[source.label].append(copied)
                folders.append(copied)
        records = {label: read_metrics(found, self._minimum) for label, found in results.items()}
        warnings = tuple(differences(self._sources, records))
        self._copy_logs()
        write_json(self._output / RUN_ARGS, {"invocations": list(self._starts())})
        tally = tally_of(outcome for _, outcome in self._outcomes.values())
        write_session_files(
            self._output,
            read_metrics(folders, self._minimum),
            tally=tally,
            min_agent_turns=self._minimum,
            warnings=warnings,
        )
        write_json(self._output / MERGED, self.made_of)
        return Merged(self._output, tally, warnings)

    def _starts(self) -> Iterator[dict[str, Any]]:
        """Yield the records of all starts, run by run, with the run that each is of."""
        before = 0
        for source in self._sources:
            for start in source.starts:
                resumed = start.get("resumed_from_invocation")
                shifted = {"resumed_from_invocation": resumed + before} if isinstance(resumed, int) else {}
                yield start | shifted | {"merged_from": source.folder.name}
            before += len(source.starts)

    def _copy_logs(self) -> None:
        """Write one evaluation log in the order of time; logs of bots get the number of their run."""
        lines: list[str] = []
        for number, source in enumerate(self._sources, 1):
            with contextlib.suppress(OSError):
                lines += (source.folder / EVALUATION_LOG).read_text("utf-8", "replace").splitlines()
            for log in sorted(source.folder.glob("bot_*.log")):
                if log.is_file() and not log.is_symlink():
                    shutil.copyfile(log, self._output / f"{log.stem}.run{number}.log")
        if lines:
            lines.sort(key=lambda line: line[:STAMP_LENGTH])
            write_text(self._output / EVALUATION_LOG, "".join(f"{line}\n" for line in lines))


def _inside(run: Path, name: str | None) -> Path | None:
    """Return a scenario's folder, if it is there and lies in its run."""
    folder = run / name if name else None
    return folder if folder and folder.is_dir() and not folder.is_symlink() else None


def _copy(folder: Path, output: Path, *, with_recordings: bool) -> Path:
    """Copy the folder of a scenario, and what lies beside it of calls that do not count; return the copy."""
    target = claim_folder(output / folder.name)
    _copy_into(folder, target, with_recordings=with_recordings)
    renamed = {}
    for aside in sorted(folder.parent.glob(f"{_literally(folder.name)}.*")):
        suffix = aside.name.removeprefix(folder.name)
        if suffix.startswith((ATTEMPT, KILLED, REPLACED)) and aside.is_dir() and not aside.is_symlink():
            beside = claim_folder(output / f"{target.name}{suffix}")
            _copy_into(aside, beside, with_recordings=with_recordings)
            renamed[aside.name] = beside.name
    _tell_where(target, renamed | {folder.name: target.name})
    return target


def _copy_into(folder: Path, target: Path, *, with_recordings: bool) -> None:
    """Copy what belongs to a folder; raises MergeError if some of it can't be."""

    def left_out(place: str, names: list[str]) -> set[str]:
        """Return what is not copied: links, what was left half written, and recordings if so."""
        return {
            name
            for name in names
            if (Path(place) / name).is_symlink()
            or name.endswith(".part")
            or (not with_recordings and name.endswith(RECORDINGS))
        }

    try:
        shutil.copytree(folder, target, ignore=left_out, dirs_exist_ok=True)
    except shutil.Error as exc:
        source, _, why = exc.args[0][0]
        raise MergeError(f"{source}: it can't be copied to {target}: {why}") from None


def _tell_where(folder: Path, renamed: Mapping[str, str]) -> None:
    """Have the metrics in ``folder`` name it, and the folders of attempts as they are called now."""
    content = read_json(folder / METRICS)
    if not isinstance(content, dict):
        return
    for attempt in content.get("attempts") or ():
        if isinstance(attempt, dict) and isinstance(attempt.get("directory"), str):
            attempt["directory"] = renamed.get(attempt["directory"], attempt["directory"])
    write_json(folder / METRICS, content | {"scenario_directory": str(folder)})


def _literally(name: str) -> str:
    """Return a pattern for ``glob`` that only ``name`` fits."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)
