"""The noise of a call: read or made before it begins, so that nothing of it can fail in its midst."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from pytest_voiceeval.audio.levels import factor
from pytest_voiceeval.audio.noise import (
    LoopedNoise,
    NoiseSource,
    NoisyChannel,
    WhiteNoise,
    looped,
    mono,
    window,
)
from pytest_voiceeval.audio.pcm import Floats
from pytest_voiceeval.model.conversation import NoiseLevels
from pytest_voiceeval.model.parts import NoiseConfig
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.noise import noise_error, noise_files, noise_of


def noisy_channel(scenario: Scenario, rate_hz: int) -> NoisyChannel | None:
    """Return what adds the noise of ``scenario`` to the user's sound at ``rate_hz``; ``None`` for no noise.

    All that is random comes from the seed, so that the noise is the same on every run.

    Raises:
        DefinitionError: if the noise is defined wrongly, or a file of it is missing or cannot be used.
    """
    config = noise_of(scenario)
    if config is None:
        return None
    generator = np.random.default_rng(_seed(scenario, config))
    source = _source(scenario, config, rate_hz, generator)
    return NoisyChannel(source, rate_hz, gain_db=config.gain_db, snr_db=config.snr_db)


def measured(channel: NoisyChannel | None) -> NoiseLevels | None:
    """Return the levels of speech and noise on a channel so far; ``None`` if it has no noise."""
    return None if channel is None else NoiseLevels(channel.speech_db, channel.noise_db)


def _seed(scenario: Scenario, config: NoiseConfig) -> int:
    if config.seed is not None:
        return config.seed
    return int.from_bytes(hashlib.sha256((scenario.name or "").encode()).digest()[:8], "big")


def _source(
    scenario: Scenario, config: NoiseConfig, rate_hz: int, generator: np.random.Generator
) -> NoiseSource:
    if config.random_white_noise:
        # Its own level does not matter where the SNR sets it, but must not be so low that it is lost.
        peak_db = 0.0 if config.snr_db is not None else config.white_noise_db or 0.0
        return WhiteNoise(generator, factor(peak_db))
    chance = generator if config.random_offset else None
    pieces = [
        _piece(scenario, path, config.max_noise_duration, rate_hz, chance)
        for path in noise_files(scenario, config)
    ]
    noise: LoopedNoise = looped(pieces, chance)
    if not noise.rms:
        raise noise_error(scenario, f"{', '.join(config.files)}: silent throughout; name a file with noise")
    return noise


def _piece(
    scenario: Scenario, path: Path, seconds: float | None, rate_hz: int, chance: np.random.Generator | None
) -> Floats:
    """Return the part of a file that is taken, one channel at ``rate_hz``."""
    import soundfile  # noqa: PLC0415 - only where a scenario has noise from files

    try:
        with soundfile.SoundFile(path) as file:
            wanted = None if seconds is None else max(round(seconds * file.samplerate), 1)
            start, end = window(file.frames, wanted, chance)
            file.seek(start)
            samples = file.read(end - start, dtype="float32", always_2d=True)
            source_hz = file.samplerate
    except (soundfile.SoundFileError, RuntimeError, TypeError, ValueError, OSError) as exc:
        raise noise_error(scenario, f"{path} cannot be read as sound: {exc}; use a WAV file") from None
    if _is_cut_short(path):
        raise noise_error(scenario, f"{path} ends before it says that it does; fetch or save it again")
    if not len(samples):
        raise noise_error(scenario, f"{path} has no samples; use a file with sound in it")
    if not np.isfinite(samples).all():
        raise noise_error(scenario, f"{path} has samples that are no numbers; write it anew")
    return mono(samples, source_hz, rate_hz)


def _is_cut_short(path: Path) -> bool:
    """Return whether a WAV file is shorter than its header says; of other files only what reads them knows.

    Writers that do not know the length beforehand leave one that no file has.
    """
    with path.open("rb") as file:
        head = file.read(8)
    told = int.from_bytes(head[4:], "little")
    return head[:4] == b"RIFF" and 0 < told < 0x7FFFF000 and told + len(head) > path.stat().st_size + 1
