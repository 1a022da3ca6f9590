"""Words for what became of a scenario, as reports and the files of a run have them."""

from __future__ import annotations

from typing import Final

ERROR: Final = "error"
"""No verdict, through a fault of ours or of the environment; also the verdict of one whose judge broke."""

SKIPPED: Final = "skipped"
BROKEN_OFF: Final = "broken off"
"""Its call was begun, and the run ended before the call did, or before anything told what it came to."""

NOT_SCORED: Final = "not scored"
"""Its call was held ahead of its turn and came to its end, and the run ended before the turn came."""

NOT_RUN: Final = "not run"
