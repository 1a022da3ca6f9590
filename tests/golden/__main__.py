"""``python -m tests.golden FILE…``: print for each file how many cases held, and those that did not."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_voiceeval.commands.arguments import keep_quiet
from pytest_voiceeval.errors import VoiceEvalError
from pytest_voiceeval.scenarios.packs import packs_of
from pytest_voiceeval.world.roots import ROOT_VARIABLE

from .files import GoldenFileError, read_cases

if TYPE_CHECKING:
    from .runner import Outcome

TODAY_VARIABLE, GOLDEN_DAY = "TAU2_TELECOM_TODAY", "2025-02-25"
"""How the clock is set, and to what, where outcomes depend on the day."""

SHARED_DATA = Path(__file__).parents[3] / "shared" / "data"


def main(arguments: list[str] | None = None) -> int:
    """Run all files; return 0 if every case held or has its reason not to, 1 if not, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    keep_quiet()
    if root := _data_root(options.data, options.files):
        os.environ[ROOT_VARIABLE] = str(root)
    os.environ[TODAY_VARIABLE] = GOLDEN_DAY
    try:
        for pack in packs_of(options.pack):
            pack.load()
    except VoiceEvalError as exc:
        print(f"error: {exc}", file=sys.stderr)
        return 1
    return max([_run(path, verbose=options.verbose) for path in options.files])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a golden file")
    parser.add_argument(
        "--data",
        type=_folder,
        metavar="DIR",
        help="folder that paths in the files start from (default: EVAL_DATA_ROOT, else the folder data "
        "beside that of a file, else ../shared/data)",
    )
    parser.add_argument(
        "--pack", action="append", default=[], type=Path, metavar="DIR", help="a further pack to load"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="print cases that may differ, too")
    return parser


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no folder")
    return Path(text)


def _data_root(given: Path | None, files: list[Path]) -> Path | None:
    if given is not None:
        return given
    if os.environ.get(ROOT_VARIABLE):
        return None
    beside = (path.resolve().parent.parent / "data" for path in files)
    return next((folder for folder in (*beside, SHARED_DATA) if folder.is_dir()), None)


def _run(path: Path, *, verbose: bool) -> int:
    from .runner import outcome  # noqa: PLC0415 - it imports pipecat

    try:
        outcomes = [outcome(case) for case in read_cases(path)]
    except GoldenFileError as exc:
        print(f"{path.name}: error: {exc}")
        return 1
    _report(path, outcomes, verbose=verbose)
    return int(any(found.state == "failed" for found in outcomes))


def _report(path: Path, outcomes: list[Outcome], *, verbose: bool) -> None:
    counts = Counter(found.state for found in outcomes)
    more = [f"{counts[state]} {word}" for state, word in WORDS.items() if counts[state]]
    print(", ".join([f"{path.name}: {counts['held']} of {len(outcomes)} held", *more]))
    for reason, count in Counter(found.reason for found in outcomes if found.state == "skipped").items():
        print(f"  skipped {count}: {reason}")
    for found in outcomes:
        if found.state == "failed" or (verbose and found.state == "excepted"):
            print(f"  {found.case.id} ({found.case.place}): {found.reason}")


WORDS = {"failed": "did not", "excepted": "may differ", "skipped": "skipped"}


if __name__ == "__main__":
    sys.exit(main())
