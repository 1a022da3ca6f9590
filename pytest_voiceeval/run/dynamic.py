"""A run without pytest: scenarios held one after another, as a call of the library."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_voiceeval.bridge.endpoint import Endpoint
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.turns import AGENT, USER, Side
from pytest_voiceeval.model.work import ClockName
from pytest_voiceeval.run.dynamic_run import DynamicRun
from pytest_voiceeval.run.evaluate import check_judge
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.scenarios.registry import named_scenario_class, scenario_class
from pytest_voiceeval.scoring.conversation_end import ConversationEndPolicy, end_policy
from pytest_voiceeval.wire.address import shown, websocket_url

if TYPE_CHECKING:
    from pytest_voiceeval.bridge.clock import ClockChoice
    from pytest_voiceeval.scoring.judging import Judge

Wanted = Scenario | type[Scenario] | str


def run_dynamic_evaluation(  # noqa: PLR0913 - each is a setting by keyword; most of its length is what help() shows
    user_url: str | Endpoint,
    agent_url: str | Endpoint,
    output_dir: str | Path,
    scenarios: Wanted | Iterable[Wanted],
    *,
    duration: float | None = None,
    pause: float = 0.5,
    output_sample_rate: int = 24_000,
    judge: Judge | None = None,
    judge_threshold: float | None = None,
    strict_match: bool = False,
    min_agent_turns: int = 0,
    conversation_end_policy: ConversationEndPolicy | str = ConversationEndPolicy.TOOL_ONLY,
    inactivity_timeout: float | None = 120.0,
    auto_resume_on_stale: bool = True,
    auto_resume_on_insufficient_turns: bool = False,
    max_auto_retries: int = 1,
    auto_retry_backoff_secs: float = 5.0,
    clock: ClockChoice = "auto",
    connect_timeout: float = 5.0,
    tell: Callable[[str], object] | None = None,
) -> list[dict[str, Any]]:
    """Hold the scenarios, write all files of a run into ``output_dir``, and return the metrics of each.

    What has a result in ``output_dir`` already is not held again: so a run that was broken off goes on.
    A scenario that comes to an error does not stop the others; in place of its metrics there is a record with
    ``"verdict": "error"`` and ``error``, why. The order is that of ``scenarios``. The run's files are written
    also if it is interrupted.

    It blocks: in a coroutine, ``await asyncio.to_thread(run_dynamic_evaluation, ...)``.

    Args:
        user_url, agent_url: the two bots, each the URL of a WebSocket or an endpoint, such as
            ``LocalBot("agent", load_profile("local"))``.
        output_dir: folder of this run.
        scenarios: names, classes or instances.
        duration: seconds that a call may last, whatever its scenario says.
        pause: seconds between two scenarios, except on the charged clock.
        output_sample_rate: of the recordings, in hertz.
        judge: judges conversations; without one its signals do not apply.
        judge_threshold: lowest score of the judge that passes; ``None``: no score passes or fails.
        tell: is told what happens, one line each.

    The other arguments are those of ``RunSettings``.

    Raises:
        DefinitionError, UnknownNameError: if a scenario, a bot or a setting is wrong, before any call.
        RuntimeError: if it is called where an event loop runs.
    """
    _refuse_running_loop()
    settings = RunSettings(
        clock=clock,
        max_duration=duration,
        inactivity_timeout=inactivity_timeout,
        connect_timeout=connect_timeout,
        strict_match=strict_match,
        judge_threshold=judge_threshold,
        conversation_end_policy=end_policy(conversation_end_policy),
        min_agent_turns=min_agent_turns,
        auto_resume_on_stale=auto_resume_on_stale,
        auto_resume_on_insufficient_turns=auto_resume_on_insufficient_turns,
        max_auto_retries=max_auto_retries,
        auto_retry_backoff_secs=auto_retry_backoff_secs,
        output_sample_rate=output_sample_rate,
    )
    _check_the_rest(output_dir, pause, judge)
    run = DynamicRun(
        Path(output_dir),
        {USER: _endpoint(USER, user_url), AGENT: _endpoint(AGENT, agent_url)},
        settings,
        judge=judge,
        pause=pause,
        tell=tell or (lambda _: None),
    )
    return run.hold(_instances(scenarios))


def _check_the_rest(output_dir: str | Path, pause: float, judge: Judge | None) -> None:
    """Raise DefinitionError for what is no setting of calls, and wrong."""
    if not str(output_dir).strip():
        raise DefinitionError("output_dir is empty; name the folder of the run")
    if isinstance(pause, bool) or not isinstance(pause, int | float) or not 0 <= pause < float("inf"):
        raise DefinitionError(f"pause is {pause!r}; write seconds, 0 or more")
    check_judge(judge)


def _refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(
        "run_dynamic_evaluation blocks, and an event loop runs here; write "
        "await asyncio.to_thread(run_dynamic_evaluation, ...)"
    )


def _instances(wanted: Wanted | Iterable[Wanted]) -> list[Scenario]:
    """Return the scenarios; names are looked up, in the built-in pack too.

    Raises:
        DefinitionError, UnknownNameError: if there is no such scenario, or none at all.
    """
    several = [wanted] if isinstance(wanted, str | Scenario | type) else list(wanted)
    found = [_instance(each) for each in several]
    if not found:
        raise DefinitionError("no scenario is given; name at least one")
    return found


def _instance(wanted: Wanted) -> Scenario:
    if isinstance(wanted, Scenario):
        return wanted
    if isinstance(wanted, type) and issubclass(wanted, Scenario):
        return wanted()
    if not isinstance(wanted, str):
        raise DefinitionError(f"{wanted!r} is no scenario; give its name, its class or an instance")
    if scenario_class(wanted) is None:
        builtin_pack().load()
    return named_scenario_class(wanted)()


def _endpoint(side: Side, given: str | Endpoint) -> Endpoint:
    if not isinstance(given, str) and not callable(getattr(given, "open", None)):
        raise DefinitionError(
            f"{given!r} is no {side} bot; give the URL of a WebSocket, or an endpoint such as "
            f'LocalBot("{side}", load_profile("local"))'
        )
    return Address(side, websocket_url(given)) if isinstance(given, str) else given


class Address:
    """A bot that somebody else runs."""

    clocks: tuple[ClockName, ...] = ("real",)

    def __init__(self, side: Side, url: str) -> None:
        self.side = side
        self.label = shown(url)
        self._url = url

    @asynccontextmanager
    async def open(self, scenario: Scenario) -> AsyncIterator[str]:
        """Yield its URL."""
        yield self._url

    def close(self) -> None:
        """Do nothing: it is not ours."""
