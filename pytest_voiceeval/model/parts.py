"""The parts a scenario is written with: persona, task, actions, resources, noise."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from pytest_voiceeval.errors import DefinitionError


@dataclass(frozen=True)
class Persona:
    """Who speaks. ``behavior_config`` and ``voice_config`` are labels, never rendered."""

    role: str
    name: str | None = None
    background: str | None = None
    personality: str | None = None
    language: str | None = None
    accent: str | None = None
    behavior_config: str | None = None
    voice_config: str | None = None


@dataclass(frozen=True)
class Task:
    """What a side wants to reach, and why."""

    goal: str
    background: str = ""


@dataclass(frozen=True)
class Actions:
    """What a side does in order (``instructions``) and always (``guidelines``)."""

    instructions: list[str] = field(default_factory=list)
    guidelines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Resources:
    """What a side has: tools (name to constructor arguments), documents (name to path), information.

    A document is a text file below the ``data`` folder of the pack; ``ReadFileTool`` reads it.
    ``info_sections`` maps a heading to the text under it.

    Raises:
        DefinitionError: if ``tools`` is no dict of names to dicts of arguments, or ``documents`` no dict of
            names to paths.
    """

    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    information: list[str] = field(default_factory=list)
    info_sections: dict[str, str] | None = None

    def __post_init__(self) -> None:
        """Refuse tools and documents of another shape."""
        tools: Any = self.tools
        if not isinstance(tools, dict) or not all(
            isinstance(name, str) and isinstance(arguments, dict) for name, arguments in tools.items()
        ):
            raise DefinitionError(
                f"tools of Resources must be a dict of name to arguments, not {tools!r}; write for example "
                'tools={"EndConversationTool": {}}'
            )
        documents: Any = self.documents
        if not isinstance(documents, dict) or not all(
            isinstance(name, str) and isinstance(path, str) for name, path in documents.items()
        ):
            raise DefinitionError(
                f"documents of Resources must be a dict of name to path, not {documents!r}; write for "
                'example documents={"menu": "menu.txt"}'
            )


@dataclass(frozen=True)
class NoiseConfig:
    """Noise on the way from the user to the agent.

    Attributes:
        noise_files: paths, or one comma-separated text; ``None`` for no files. A relative path is one below
            the ``data`` folder of the scenario's pack, below the data root, or below the working directory.
        gain_db: gain on the noise when it is mixed in.
        max_noise_duration: seconds taken of each file; ``None`` for all of it.
        random_offset: take that part of a longer file, and enter the loop, at a random place.
        random_white_noise: uniform white noise; the files are ignored.
        white_noise_db: peak level of the white noise in dBFS; ``None`` for 0 dBFS.
        snr_db: how far the noise lies below the user's active speech level (ITU-T P.56), in dB, in place of
            ``gain_db`` and ``white_noise_db``. Not in the reference.
        seed: of all that is random; ``None`` for one that follows from the scenario's name. Not in the
            reference.
    """

    noise_files: str | list[str] | None = None
    gain_db: float = 0.0
    max_noise_duration: float | None = 600.0
    random_offset: bool = True
    random_white_noise: bool = False
    white_noise_db: float | None = -90.0
    snr_db: float | None = None
    seed: int | None = None

    @property
    def files(self) -> list[str]:
        """The paths of ``noise_files``, one by one."""
        named: Any = self.noise_files or []
        if isinstance(named, str):
            return [path.strip() for path in named.split(",") if path.strip()]
        return [str(path) for path in (named if isinstance(named, list | tuple) else [named])]

    def faults(self) -> list[str]:
        """Return what is wrong with the values, one text for each fault; files are not looked for."""
        faults = [fault for name in _LEVELS if (fault := _level_fault(name, getattr(self, name)))]
        if self.white_noise_db is not None and not faults and self.white_noise_db > 0:
            faults.append(f"white_noise_db is {self.white_noise_db}; full scale is 0, write a number below")
        if not _is_number(self.gain_db):
            faults.append(f"gain_db is {self.gain_db!r}; write a number of dB, such as -10, or 0 for none")
        if self.max_noise_duration is not None and not (
            _is_number(self.max_noise_duration) and self.max_noise_duration > 0
        ):
            faults.append(
                f"max_noise_duration is {self.max_noise_duration!r}; write a number of seconds, or None"
            )
        if self.seed is not None and (not isinstance(self.seed, int) or self.seed < 0):
            faults.append(f"seed is {self.seed!r}; write a whole number that is not below 0, or None")
        if not self.random_white_noise and not self.files:
            faults.append("there is no noise in it; name noise_files, or set random_white_noise=True")
        if not faults and self.snr_db is not None and self.gain_db:
            faults.append("snr_db and gain_db both say how loud the noise is; write one of them")
        return faults

    def to_dict(self) -> dict[str, Any]:
        """Return the six fields of the reference, and our own where they are set: as in ``metadata.json``."""
        fields = asdict(self)
        return {key: value for key, value in fields.items() if value is not None or key not in _OURS}


_LEVELS = ("white_noise_db", "snr_db")
_OURS = ("snr_db", "seed")


def _level_fault(name: str, value: Any) -> str:
    if value is None or _is_number(value):
        return ""
    return f"{name} is {value!r}; write a number of dB, such as -20, or None"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
