"""Profiles: which services a bot is made of, read from YAML."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, get_args

import yaml
from pydantic import BaseModel, Field, ValidationError

from pytest_voiceeval.bots.profile_hosted import OpenAiLlm, OpenAiStt, OpenAiTts
from pytest_voiceeval.bots.profile_local import (
    INSTALL,
    PiperTts,
    RehearsalLlm,
    Section,
    TurnTaking,
    Vad,
    WhisperStt,
)
from pytest_voiceeval.errors import DataError, ProfileError
from pytest_voiceeval.model.nearest import nearest
from pytest_voiceeval.world.files import read_utf8

_BUILTIN = Path(__file__).parent / "profiles"
_PACKAGES = {"piper": ("piper-tts", "piper"), "whisper": ("faster-whisper", "faster_whisper")}
"""What a service is made of: the package's name, and that of its module."""

_SERVICES: dict[str, dict[str, type[Section]]] = {
    "stt": {"whisper": WhisperStt, "openai": OpenAiStt},
    "llm": {"rehearsal": RehearsalLlm, "openai": OpenAiLlm},
    "tts": {"piper": PiperTts, "openai": OpenAiTts},
}
"""The services that a section may name."""

_MAY_BE_SECRET = {"api_key_env", "base_url"}
_SHOWN = 60


class Profile(Section):
    """The services of a bot. ``name`` is for messages."""

    name: str = Field(default="", exclude=True)
    stt: Annotated[WhisperStt | OpenAiStt, Field(discriminator="service")]
    llm: Annotated[RehearsalLlm | OpenAiLlm, Field(discriminator="service")]
    tts: Annotated[PiperTts | OpenAiTts, Field(discriminator="service")]
    vad: Vad = Vad()
    turn_taking: TurnTaking = TurnTaking()

    @property
    def digest(self) -> str:
        """A fingerprint of what it says: 16 hex digits."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    @property
    def is_rehearsed(self) -> bool:
        """Whether a rehearsal plays the model's part, so that what is said is said again."""
        return isinstance(self.llm, RehearsalLlm)

    @property
    def runs_here(self) -> bool:
        """Whether nothing in it asks another machine."""
        return self.is_rehearsed and isinstance(self.stt, WhisperStt) and isinstance(self.tts, PiperTts)


def require_packages(profile: Profile) -> None:
    """Check that what the services of ``profile`` are made of is installed.

    Raises:
        ProfileError: naming the packages that are missing, and what to install.
    """
    services = [profile.tts.service, profile.stt.service]
    needed = [_PACKAGES[service] for service in services if service in _PACKAGES]
    missing = [name for name, module in needed if find_spec(module) is None]
    if missing:
        raise ProfileError(f"profile {profile.name}: {' and '.join(missing)} missing; {INSTALL}")


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
        if not name_or_path.strip() or (path.suffix not in {".yaml", ".yml"} and not path.exists()):
            raise ProfileError(
                f"no profile {name_or_path!r}; write one of {', '.join(builtin_profiles())}, or the "
                "path of a YAML file"
            )
    try:
        content = yaml.safe_load(read_utf8(path))
    except DataError as exc:
        raise ProfileError(str(exc)) from None
    except OSError as exc:
        raise ProfileError(f"{path}: cannot be read: {exc}") from None
    except (yaml.YAMLError, ValueError) as exc:  # a date or a number of YAML's may be none of Python's
        raise ProfileError(f"{path}: not YAML: {exc}") from None
    except RecursionError:
        raise ProfileError(
            f"{path}: nested too deeply to be read; write the sections stt, llm and tts"
        ) from None
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
    if len(keys) > 1 and keys[1] in _SERVICES.get(keys[0], ()):
        del keys[1]
    where = ".".join(keys)
    section = _section(error["loc"][:-1])
    if error["type"] == "extra_forbidden":
        near = nearest(keys[-1], _keys(section), most=1)
        hint = f"did you mean {near[0]}? " if near else ""
        return f"{where}: unknown key; {hint}{_known_keys(section)}"
    if error["type"] == "missing":
        field = section.model_fields.get(keys[-1])
        what = f"write {field.description}" if field is not None and field.description else "it is required"
        return f"{where}: missing; {what}"
    if error["type"] in {"union_tag_not_found", "union_tag_invalid"}:
        return f"{where}.service: write {' or '.join(_SERVICES[keys[0]])}"
    if error["type"] in {"model_type", "model_attributes_type"}:
        such = f", such as {{service: {next(iter(_SERVICES[where]))}}}" if where in _SERVICES else " of keys"
        return f"{where}: write a section{such}, {_found(keys[-1], error['input'])}"
    field = section.model_fields.get(keys[-1])
    what = f"; write {field.description}" if field is not None and field.description else ""
    is_path = error["type"] == "path_type"
    message = "it is no path" if is_path else str(error["msg"]).removeprefix("Value error, ")
    return f"{where}: {message}, {_found(keys[-1], error['input'])}{what}"


def _found(key: str, value: Any) -> str:
    """Return ``value`` for a message, but where a secret may have been written in its place."""
    if key in _MAY_BE_SECRET:
        return "what is there is none (and not shown, for it may be a secret)"
    text = repr(value)
    return f"not {text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}"


def _section(loc: Sequence[Any]) -> type[BaseModel]:
    """Return the section that ``loc`` leads to, as far as it can be followed."""
    here: type[BaseModel] = Profile
    for place, part in enumerate(loc):
        if place == 1 and part in _SERVICES.get(str(loc[0]), ()):
            here = _SERVICES[str(loc[0])][str(part)]
            continue
        field = here.model_fields.get(str(part))
        kinds = (field.annotation, *get_args(field.annotation)) if field is not None else ()
        here = next((k for k in kinds if isinstance(k, type) and issubclass(k, Section)), here)
    return here


def _keys(section: type[BaseModel]) -> list[str]:
    """Return the keys of ``section``, its own before those that it has in common with others."""
    own = section.__annotations__
    return sorted((key for key in section.model_fields if key != "name"), key=lambda key: key not in own)


def _known_keys(section: type[BaseModel]) -> str:
    return f"known are {', '.join(_keys(section))}"


def profile_digest(name_or_path: str) -> str | None:
    """Return a fingerprint of what a profile says; ``None`` if it can't be had, as of a command or an URL."""
    try:
        return load_profile(name_or_path).digest
    except ProfileError:
        return None
