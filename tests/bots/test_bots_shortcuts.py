"""What is left out of pipecat's pipeline changes nothing that can be told from outside."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams, VADState

from pytest_voiceeval.bots.profile import Profile
from pytest_voiceeval.bots.profile_local import Timbre
from pytest_voiceeval.bots.shortcuts import InlineSileroVADAnalyzer
from pytest_voiceeval.bots.speech import shared_voice, spoken

PARAMS = VADParams(stop_secs=0.4)
PIECE = 640 * 2


@pytest.fixture
def sound(profile: Profile) -> bytes:
    """Two sentences with noise before them, and a pause between them that is longer than any within."""
    pytest.importorskip("piper", reason="the extra 'local' is not installed")
    voice = shared_voice(profile.tts.voice_path)
    first, second = (b"".join(spoken(text, voice, Timbre(), 16_000)) for text in ("Hello there.", "Yes."))
    noise = np.random.default_rng(5).integers(-30, 30, 16_000).astype("<i2").tobytes()
    return noise + first + bytes(2 * 64_000) + second + bytes(2 * 20_000)


async def states(analyzer: VADAnalyzer, sound: bytes) -> list[VADState]:
    analyzer.set_sample_rate(16_000)
    found = [
        await analyzer.analyze_audio(sound[start : start + PIECE]) for start in range(0, len(sound), PIECE)
    ]
    await analyzer.cleanup()
    return found


def changes(found: list[VADState]) -> list[int]:
    """Return the pieces at which a voice is found to have begun, or to have ended."""
    speaking = [state in (VADState.SPEAKING, VADState.STOPPING) for state in found]
    return [place for place, (before, now) in enumerate(pairwise(speaking)) if before != now]


@pytest.mark.asyncio
async def test_voices_are_detected_as_pipecat_detects_them(sound: bytes) -> None:
    ours = await states(InlineSileroVADAnalyzer(params=PARAMS), sound)
    theirs = await states(SileroVADAnalyzer(params=PARAMS), sound)
    # A window begins elsewhere behind a silence that was not looked at.
    assert len(changes(theirs)) == 4
    assert changes(ours) == [pytest.approx(at, abs=1) for at in changes(theirs)]
    assert changes(ours)[:2] == changes(theirs)[:2]


@pytest.mark.asyncio
async def test_two_streams_that_share_a_model_do_not_mix(sound: bytes) -> None:
    alone = await states(InlineSileroVADAnalyzer(params=PARAMS), sound)
    one, other = (InlineSileroVADAnalyzer(params=PARAMS) for _ in range(2))
    for analyzer in (one, other):
        analyzer.set_sample_rate(16_000)
    found = []
    for start in range(0, len(sound), PIECE):
        found.append(await one.analyze_audio(sound[start : start + PIECE]))
        await other.analyze_audio(sound[-start - PIECE : len(sound) - start])
    assert found == alone
