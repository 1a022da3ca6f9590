"""Ears and voice of a bot: the services for speech that its profile names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService

from pytest_voiceeval.bots.profile import Profile
from pytest_voiceeval.bots.profile_local import PiperTts, WhisperStt
from pytest_voiceeval.model.turns import Side

if TYPE_CHECKING:
    from pytest_voiceeval.bots.speech_cache import SpeechCache

HEARD_RATE_HZ = 16_000
"""The rate that bots hear at, and that recognisers take."""

SPOKEN_RATE_HZ = 24_000
"""The rate that bots emit: a bridge that knows only the wire assumes it."""


def recogniser(profile: Profile, cache: SpeechCache) -> STTService:
    """Return the recogniser of ``profile``; only what it needs is imported.

    Raises:
        ProfileError: if it cannot be had.
    """
    if isinstance(profile.stt, WhisperStt):
        from pytest_voiceeval.bots.speech import SharedWhisperSTTService  # noqa: PLC0415 - extra "local"

        return SharedWhisperSTTService(profile.stt, cache.recognised)
    from pytest_voiceeval.bots.hosted_speech import HostedSTTService  # noqa: PLC0415 - as above

    return HostedSTTService(profile.stt)


def synthesiser(profile: Profile, side: Side, cache: SpeechCache) -> TTSService:
    """Return what speaks for ``side``; only what it needs is imported.

    Raises:
        ProfileError: if it cannot be had.
    """
    if isinstance(profile.tts, PiperTts):
        from pytest_voiceeval.bots.speech import SharedPiperTTSService  # noqa: PLC0415 - extra "local"

        return SharedPiperTTSService(profile.tts, profile.tts.timbre(side), cache)
    from pytest_voiceeval.bots.hosted_speech import HostedTTSService  # noqa: PLC0415 - as above

    return HostedTTSService(profile.tts)
