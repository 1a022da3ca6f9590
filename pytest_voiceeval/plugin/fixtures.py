"""The fixtures, wide to narrow; each is a place to override."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from pytest_voiceeval.errors import DefinitionError, JudgeError
from pytest_voiceeval.model.safe_text import shown_lines
from pytest_voiceeval.plugin.folders import claim_scenario_folder, run_folder_key
from pytest_voiceeval.plugin.items import VoiceItem
from pytest_voiceeval.plugin.marks import SCENARIO_MARK
from pytest_voiceeval.plugin.means import Means, ahead_key
from pytest_voiceeval.plugin.notes import note
from pytest_voiceeval.plugin.planning import holds_calls
from pytest_voiceeval.plugin.selection import selection_key
from pytest_voiceeval.plugin.settings import Settings, settings_key
from pytest_voiceeval.plugin.timeouts import told_as_timed_out
from pytest_voiceeval.report.properties import ARTIFACTS, SCENARIO, attempts, properties
from pytest_voiceeval.run.logs import mute_default_sink

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_voiceeval.bridge.endpoint import Endpoint
    from pytest_voiceeval.model.conversation import Conversation, RetriedAttempt
    from pytest_voiceeval.model.metrics import Metrics
    from pytest_voiceeval.run.session import RunFolder
    from pytest_voiceeval.scenarios.base import Scenario
    from pytest_voiceeval.scoring.judging import Judge

VOICE_FIXTURES = (
    *("voice_settings", "voice_agent", "voice_user", "voice_judge", "voice_scenario", "voice_folder"),
    *("_voice_can_be_scored", "voice_conversation", "voice_metrics"),
)
"""Their names: what fails in one of them, or in what overrides it, is an error of a scenario."""


@pytest.fixture(scope="session")
def voice_settings(pytestconfig: pytest.Config) -> Settings:
    """The settings of this run, from options and ini."""
    return pytestconfig.stash[settings_key]


@pytest.fixture(scope="session")
def voice_agent(voice_settings: Settings, pytestconfig: pytest.Config) -> Iterator[Endpoint]:
    """The agent under test: what --voice-agent names. Override it to bring your own."""
    from pytest_voiceeval.plugin.endpoints import running_endpoint  # noqa: PLC0415 - heavy

    with running_endpoint("agent", voice_settings, _run_folder(pytestconfig)) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def voice_user(voice_settings: Settings, pytestconfig: pytest.Config) -> Iterator[Endpoint]:
    """The simulated caller: what --voice-user names. Override it to bring your own."""
    from pytest_voiceeval.plugin.endpoints import running_endpoint  # noqa: PLC0415 - heavy

    with running_endpoint("user", voice_settings, _run_folder(pytestconfig)) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def voice_judge(voice_settings: Settings) -> Judge | None:
    """The judge of calls: the model that --voice-judge-url and --voice-judge-model name; None without them.

    Override it to bring your own: any object with a method ``judge(scenario, conversation, *, strict_match)``
    that returns a ``Judgement``.
    """
    if voice_settings.judge is None:
        return None
    from pytest_voiceeval.scoring.judge import LLMJudge  # noqa: PLC0415 - heavy

    import_module("openai")  # at the first judgement it would delay the calls that are held beside it
    return LLMJudge(voice_settings.judge)


@pytest.fixture
def voice_scenario(request: pytest.FixtureRequest) -> Scenario:
    """The scenario of the item, or the one that @pytest.mark.voice_scenario("name") names."""
    if isinstance(request.node, VoiceItem):
        ahead = request.config.stash.get(ahead_key, None)
        call = ahead and ahead.call_of(request.node)
        return call.scenario if call else request.node.scenario()
    scenario = _marked_scenario(request)
    note(request.node, [(SCENARIO, str(scenario.name))])
    return scenario


@pytest.fixture
def voice_folder(
    request: pytest.FixtureRequest, voice_scenario: Scenario, pytestconfig: pytest.Config
) -> Path:
    """The folder for the files of this scenario, new and named after it."""
    ahead = pytestconfig.stash.get(ahead_key, None)
    call = ahead and ahead.call_of(request.node)
    folder = call.folder() if call else claim_scenario_folder(request.node, str(voice_scenario.name))
    note(request.node, [(ARTIFACTS, str(folder))])
    return folder


@pytest.fixture
def voice_conversation(
    request: pytest.FixtureRequest,
    voice_scenario: Scenario,
    voice_user: Endpoint,
    voice_agent: Endpoint,
    voice_settings: Settings,
    voice_folder: Path,
) -> Conversation:
    """The call of the scenario, held: turns, recording, actions and all other evidence."""
    mute_default_sink()
    # Heavy, and it greets on stderr.
    from pytest_voiceeval.run.retries import hold_until_it_counts  # noqa: PLC0415

    with told_as_timed_out(voice_folder):
        settings = voice_settings.run_settings()
        if ahead := request.config.stash.get(ahead_key, None):
            means = Means(voice_user, voice_agent, settings)
            held_ahead = ahead.conversation(request.node, voice_scenario, voice_folder, means)
            if held_ahead is not None:
                return held_ahead
        held: list[RetriedAttempt] = []

        def note_retry(attempt: RetriedAttempt) -> None:
            held.append(attempt)
            note(request.node, attempts(len(held) + 1, attempt.reason))

        return hold_until_it_counts(
            voice_scenario,
            user=voice_user,
            agent=voice_agent,
            settings=settings,
            folder=voice_folder,
            on_retry=note_retry,
        )


@pytest.fixture
def _voice_can_be_scored(
    request: pytest.FixtureRequest, voice_scenario: Scenario, voice_judge: Judge | None
) -> None:
    """Skip a scenario that only a judge can score, where there is none, before a call is held for nothing."""
    if not isinstance(request.node, VoiceItem) or voice_judge is not None:
        return
    from pytest_voiceeval.report.failure import nothing_to_score_by  # noqa: PLC0415 - light start
    from pytest_voiceeval.scoring.judging import missed_without_judge  # noqa: PLC0415 - as above

    if missed := missed_without_judge(voice_scenario):
        pytest.skip(nothing_to_score_by(str(voice_scenario.name), missed))


@pytest.fixture
def voice_metrics(
    request: pytest.FixtureRequest,
    voice_scenario: Scenario,
    _voice_can_be_scored: None,  # before the call
    voice_conversation: Conversation,
    voice_folder: Path,
) -> Metrics:
    """The scores of the call, and the figures that metrics.json holds."""
    mute_default_sink()
    from pytest_voiceeval.model.metrics import Verdict  # noqa: PLC0415 - light start
    from pytest_voiceeval.report.failure import judge_error_text  # noqa: PLC0415 - as above
    from pytest_voiceeval.run.evaluate import evaluate_conversation  # noqa: PLC0415 - heavy, as above
    from pytest_voiceeval.run.evidence import transcript_lines  # noqa: PLC0415 - heavy

    settings: Settings = request.getfixturevalue("voice_settings")
    metrics = evaluate_conversation(
        voice_scenario,
        voice_conversation,
        settings=settings.run_settings(),
        folder=voice_folder,
        judge=request.getfixturevalue("voice_judge"),
    )
    note(request.node, properties(metrics))
    request.node.add_report_section(
        "call", "transcript", shown_lines("\n".join(transcript_lines(voice_conversation.turns)))
    )
    if metrics.verdict is Verdict.ERROR:
        raise JudgeError(judge_error_text(metrics))
    return metrics


def _run_folder(config: pytest.Config) -> RunFolder | None:
    return config.stash[run_folder_key] if holds_calls(config) else None


def _marked_scenario(request: pytest.FixtureRequest) -> Scenario:
    """Return the scenario that a hand-written test is marked with.

    Raises:
        DefinitionError: if there is no such mark.
        UnknownNameError: if it does not name one scenario exactly; the message has the nearest names.
    """
    from pytest_voiceeval.scenarios import registry  # noqa: PLC0415 - heavy

    mark = request.node.get_closest_marker(SCENARIO_MARK)
    if mark is None or len(mark.args) != 1:
        raise DefinitionError(
            f'{request.node.nodeid}: which scenario? Mark the test @pytest.mark.{SCENARIO_MARK}("name")'
        )
    name = str(mark.args[0])
    if registry.scenario_class(name) is None:
        request.config.stash[selection_key].catalogue.load()
    return registry.named_scenario_class(name)()
