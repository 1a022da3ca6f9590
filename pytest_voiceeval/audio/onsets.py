"""Where sound can be heard."""

from __future__ import annotations

import numpy as np

from pytest_voiceeval.audio.pcm import Int16s

AUDIBLE = 164
"""Level from which a sample counts as heard: -46 dBFS, above the noise floor of synthesized speech."""


def audible_spans(frames: Int16s, level: int = AUDIBLE) -> list[tuple[int, int] | None]:
    """Return for each frame where its audible part begins and ends, as a slice; ``None`` if all is quiet.

    Args:
        frames: int16, shape (n, m), m > 0.
        level: smallest magnitude that counts, from 1 on.
    """
    quiet = level - 1
    # In one comparison: the quiet ones come to lie at 0 and above, the loud ones, which wrap around, beyond.
    loud = frames.view(np.uint16) + np.uint16(quiet) > 2 * quiet
    firsts = loud.argmax(axis=1)
    ends = frames.shape[1] - loud[:, ::-1].argmax(axis=1)
    heard = loud[np.arange(len(loud)), firsts]
    spans = zip(firsts.tolist(), ends.tolist(), heard.tolist(), strict=True)
    return [(first, end) if is_heard else None for first, end, is_heard in spans]


def audible_span(samples: Int16s, level: int = AUDIBLE) -> tuple[int, int] | None:
    """Return where the audible part begins and ends, as a slice; ``None`` if all is quiet.

    Args:
        samples: int16, shape (n,).
        level: smallest magnitude that counts, from 1 on.
    """
    return audible_spans(samples[np.newaxis], level)[0] if len(samples) else None
