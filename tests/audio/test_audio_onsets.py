"""Where sound can be heard."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.audio.onsets import AUDIBLE, audible_span

SAMPLES = st.lists(st.sampled_from([-32768, -165, -164, -163, -1, 0, 1, 163, 164, 165, 32767]), max_size=12)


@given(SAMPLES, st.sampled_from([1, AUDIBLE, 32767]))
def test_span_goes_from_the_first_loud_sample_to_the_last(values: list[int], level: int) -> None:
    loud = [place for place, value in enumerate(values) if abs(value) >= level]
    expected = (loud[0], loud[-1] + 1) if loud else None

    assert audible_span(np.array(values, np.int16), level) == expected
