"""The noise that a scenario asks for: its settings checked, its files found."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.parts import NoiseConfig
from pytest_voiceeval.scenarios.folders import data_folders
from pytest_voiceeval.tools.origin import location

if TYPE_CHECKING:
    from pytest_voiceeval.scenarios.base import Scenario


def declared_noise(scenario: Scenario) -> NoiseConfig | None:
    """Return the noise that ``scenario`` declares, ``None`` for none; a dict of its fields serves as well.

    Raises:
        DefinitionError: if it is neither.
    """
    given: Any = scenario.noise_config
    config = NoiseConfig(**_fields(scenario, given)) if isinstance(given, Mapping) else given
    if config is None or isinstance(config, NoiseConfig):
        return config
    raise noise_error(scenario, f"it is {given!r}; write NoiseConfig(…), or None")


def noise_of(scenario: Scenario) -> NoiseConfig | None:
    """Return the noise that ``scenario`` is to be held with, ``None`` for none.

    Raises:
        DefinitionError: if it is defined wrongly, or a file is missing; says where.
    """
    config = declared_noise(scenario)
    if config is not None:
        if faults := config.faults():
            raise noise_error(scenario, "; ".join(faults))
        noise_files(scenario, config)
    return config


def noise_files(scenario: Scenario, config: NoiseConfig) -> list[Path]:
    """Return the files of ``config``, absolute; none if its noise is made.

    Raises:
        DefinitionError: if one is not there.
    """
    return [] if config.random_white_noise else [_found(scenario, path) for path in config.files]


def noise_error(scenario: Scenario, text: str) -> DefinitionError:
    """Return the error that says what is wrong with the noise of ``scenario``, and where it is defined."""
    where = location(type(scenario))
    return DefinitionError(f"{where}: noise_config of scenario {scenario.name!r}: {text}")


def _fields(scenario: Scenario, given: Mapping[Any, Any]) -> dict[str, Any]:
    known = [field.name for field in dataclasses.fields(NoiseConfig)]
    for name in given:
        if name not in known:
            raise noise_error(scenario, f"it has no field {name!r}; there are: {', '.join(known)}")
    return dict(given)


def _found(scenario: Scenario, path: str) -> Path:
    folders = [*data_folders(type(scenario)), Path.cwd()]
    for candidate in [folder / path for folder in folders]:
        if candidate.is_file():
            return candidate
    if Path(path).is_absolute():
        raise noise_error(scenario, f"no file {path}")
    places = ", ".join(map(str, dict.fromkeys(folders)))
    raise noise_error(scenario, f"no file {path!r} in {places}; put it there, or write an absolute path")
