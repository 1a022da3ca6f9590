"""What the installed distribution brings: run by ``tox -e wheel``, outside the repository."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import PurePosixPath


def main() -> int:
    """Return 0 if the wheel holds the package and nothing beside it."""
    files = importlib.metadata.files("pytest-voiceeval") or []
    tops = {PurePosixPath(str(file)).parts[0] for file in files}
    strangers = {top for top in tops if top != "pytest_voiceeval" and not top.endswith(".dist-info")}
    inside = {str(file) for file in files}
    missing = {
        "pytest_voiceeval/py.typed",
        "pytest_voiceeval/bots/profiles/local.yaml",
        "pytest_voiceeval/builtin/scenarios/restaurant.py",
        "pytest_voiceeval/builtin/tools/restaurant.py",
    } - inside
    for problem in [f"top level of site-packages gets {top}" for top in strangers] + [
        f"{file} is missing" for file in missing
    ]:
        print(problem, file=sys.stderr)  # noqa: T201
    return 1 if strangers or missing else 0


if __name__ == "__main__":
    sys.exit(main())
