"""The parts a scenario is written with: persona, task, actions, resources, noise."""

from __future__ import annotations

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

    ``info_sections`` maps a heading to the text under it.

    Raises:
        DefinitionError: if ``tools`` is no dict of names to dicts of arguments.
    """

    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    information: list[str] = field(default_factory=list)
    info_sections: dict[str, str] | None = None

    def __post_init__(self) -> None:
        """Refuse tools of another shape."""
        tools: Any = self.tools
        if not isinstance(tools, dict) or not all(
            isinstance(name, str) and isinstance(arguments, dict) for name, arguments in tools.items()
        ):
            raise DefinitionError(
                f"tools of Resources must be a dict of name to arguments, not {tools!r}; write for example "
                'tools={"EndConversationTool": {}}'
            )


@dataclass(frozen=True)
class NoiseConfig:
    """Noise on the way from the user to the agent.

    Attributes:
        noise_files: paths, or one comma-separated text; ``None`` for no files.
        gain_db: gain on the noise when it is mixed in.
        max_noise_duration: seconds taken of each file; ``None`` for all of it.
        random_offset: start at a random place.
        random_white_noise: uniform white noise; the files are ignored.
        white_noise_db: peak level of the white noise in dBFS; ``None`` for 0 dBFS.
    """

    noise_files: str | list[str] | None = None
    gain_db: float = 0.0
    max_noise_duration: float | None = 600.0
    random_offset: bool = True
    random_white_noise: bool = False
    white_noise_db: float | None = -90.0

    def to_dict(self) -> dict[str, Any]:
        """Return the six fields, as ``metadata.json`` stores them."""
        return asdict(self)
