"""Where a bot's language model is: the profile's, or a rehearsal server that is brought up for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.bots.endpoint_access import EndpointAccess, Limits, limits_of
from pytest_voiceeval.bots.profile import Profile
from pytest_voiceeval.bots.profile_hosted import OpenAiLlm
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.turns import Side

if TYPE_CHECKING:
    from pytest_voiceeval.bots.rehearsal_server import Script
    from pytest_voiceeval.scenarios.base import Scenario


_PATIENT = Limits(whole=3600.0, first=120.0, retries=0)
"""Limits of a rehearsal: it pretends to think for as long as its profile says."""


@dataclass(frozen=True)
class ModelAccess(EndpointAccess):
    """How a bot's language model is reached.

    Attributes:
        sampling: those of pipecat's settings that are set, such as ``temperature``.
        extra: what else goes into each request.
    """

    sampling: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@asynccontextmanager
async def model_access(
    profile: Profile, side: Side, scenarios: Sequence[Scenario], variant: str = "gold"
) -> AsyncIterator[ModelAccess]:
    """Yield the access to the model of ``profile``; its rehearsal server runs as long as the body.

    Raises:
        DefinitionError: if it is the rehearsal, and none of ``scenarios`` has one.
        ProfileError: if the model's key is not in the environment.
    """
    llm = profile.llm
    if isinstance(llm, OpenAiLlm):
        yield ModelAccess(
            llm.base_url,
            llm.model,
            llm.api_key(),
            llm.api_key_env,
            limits_of(llm),
            sampling=llm.sampling(),
            extra=llm.extra(),
        )
        return
    # aiohttp is heavy, and not needed for a real model.
    from pytest_voiceeval.bots.rehearsal_server import Pace, serve_scripts  # noqa: PLC0415

    scripts = [script for scenario in scenarios for script in _scripts(scenario, side)]
    if not scripts:
        names = ", ".join(str(scenario.name) for scenario in scenarios) or "(none)"
        raise DefinitionError(
            f"{names}: no rehearsal, and profile {profile.name!r} has no model to play the {side}; give "
            "the scenario a rehearsal, or take a profile with a model, such as openai"
        )
    pace = Pace(llm.seconds_to_first_token, llm.seconds_per_token)
    async with serve_scripts(scripts, pace=pace) as base_url:
        yield ModelAccess(base_url, variant, limits=_PATIENT, what="rehearsal")


def _scripts(scenario: Scenario, side: Side) -> list[Script]:
    from pytest_voiceeval.bots.rehearsal_server import Script  # noqa: PLC0415 - as above

    rehearsal = scenario.rehearsal
    return [] if rehearsal is None else [Script(scenario.prompt(side), side, rehearsal)]
