"""Where sound can be heard."""

from __future__ import annotations

import numpy as np

from pytest_voiceeval.audio.pcm import Int16s

AUDIBLE = 164
"""Level from which a sample counts as heard: -46 dBFS, above the noise floor of synthesized speech."""


def audible_span(samples: Int16s, level: int = AUDIBLE) -> tuple[int, int] | None:
    """Return where the audible part begins and ends, as a slice; ``None`` if all is quiet.

    Args:
        samples: int16, shape (n,).
        level: smallest magnitude that counts.
    """
    loud = np.flatnonzero((samples >= level) | (samples <= -level))
    if not len(loud):
        return None
    return int(loud[0]), int(loud[-1]) + 1
