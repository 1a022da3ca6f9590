"""All settings of a run, read once."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_voiceeval.bots.command import ProcessSettings
from pytest_voiceeval.plugin import bot_options, options
from pytest_voiceeval.plugin.dialect_options import agent_dialect
from pytest_voiceeval.plugin.judge_options import THRESHOLD, judge_settings
from pytest_voiceeval.plugin.option import Option
from pytest_voiceeval.plugin.sharding import Shard
from pytest_voiceeval.plugin.worker_input import FOLDER_INPUT, WORKER_INPUT
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.run.taken import TakenScenarios
from pytest_voiceeval.scoring.conversation_end import ConversationEndPolicy
from pytest_voiceeval.wire.address import shown
from pytest_voiceeval.wire.dialect import Dialect

if TYPE_CHECKING:
    from pytest_voiceeval.bridge.clock import ClockChoice
    from pytest_voiceeval.model.live import OnTurn
    from pytest_voiceeval.scenarios.packs import Pack
    from pytest_voiceeval.scoring.judge_settings import JudgeSettings


@dataclass(frozen=True)
class Settings:
    """What options and ini say.

    Attributes:
        scenarios: selectors; empty if none were given.
        split: of benchmarks, whose tasks are held.
        shard: which part of the selected scenarios is held; ``None`` for all.
        agent, user: what names the bot of each side; a password may be in it, so they are in no ``repr``.
        agent_process, user_process: how a bot that is a command is started.
        dialect: how the agent is spoken to, unless it is embedded.
        rehearsal: name of the script that embedded bots play.
        output_dir: folder in which the run makes its own.
        cache_dir: folder of spoken lines; ``None`` if none are kept.
        data_root: folder of data that the option names; ``None`` without it.
        duration: time limit of every call in seconds; ``None`` leaves it to the scenarios.
        inactivity_timeout, connect_timeout: seconds; ``None`` for no limit.
        clock: which clock calls run on.
        strict_match: unexpected actions fail the action match.
        conversation_end_policy: which ends of a call are clean.
        judge: how the judge is asked; ``None`` if there is none.
        judge_threshold: lowest score of it that passes.
        min_agent_turns, auto_resume_on_stale, auto_resume_on_insufficient_turns, max_auto_retries,
            auto_retry_backoff_secs: when a call has too few turns, and when it is held again.
        resume: folder of the run that this one goes on with; ``None`` for a run of its own.
        concurrency: how many calls are held at once in this process.
        pack_roots: folders of the packs besides the built-in one.
        on_turn: is told of turns as they are spoken; ``None`` if nobody wants to see them.
        taken: which agents have taken a scenario in this session.
        worker: index of this process among those that hold calls at once; 0 if it is the only one.
    """

    scenarios: tuple[str, ...]
    split: str
    shard: Shard | None
    agent: str = field(repr=False)
    user: str = field(repr=False)
    agent_process: ProcessSettings
    user_process: ProcessSettings
    dialect: Dialect
    rehearsal: str
    output_dir: Path
    cache_dir: Path | None
    data_root: Path | None
    duration: float | None
    inactivity_timeout: float | None
    connect_timeout: float
    clock: ClockChoice
    strict_match: bool
    conversation_end_policy: ConversationEndPolicy
    judge: JudgeSettings | None
    judge_threshold: float
    min_agent_turns: int
    auto_resume_on_stale: bool
    auto_resume_on_insufficient_turns: bool
    max_auto_retries: int
    auto_retry_backoff_secs: float
    resume: Path | None
    concurrency: int = 1
    pack_roots: tuple[Path, ...] = ()
    worker: int = 0
    on_turn: OnTurn | None = field(default=None, repr=False, compare=False)
    taken: TakenScenarios = field(default_factory=TakenScenarios, repr=False, compare=False)

    @classmethod
    def from_config(cls, config: pytest.Config) -> Settings:
        """Return the settings of this run.

        Raises:
            pytest.UsageError: if a value is wrong.
        """
        return cls(
            scenarios=options.SCENARIOS.read(config),
            split=options.SPLIT.read(config),
            shard=options.SHARD.read(config),
            agent=_bot(config, options.AGENT),
            user=_bot(config, options.USER),
            agent_process=replace(
                _process(config, options.AGENT, bot_options.AGENT_CWD, bot_options.AGENT_ENV),
                path=bot_options.AGENT_PATH.read(config),
            ),
            user_process=_process(config, options.USER, bot_options.USER_CWD, bot_options.USER_ENV),
            dialect=agent_dialect(config, options.AGENT.read(config)),
            rehearsal=options.REHEARSAL.read(config),
            output_dir=_base(config, options.OUTPUT_DIR) / options.OUTPUT_DIR.read(config),
            cache_dir=_cache_dir(config),
            data_root=_data_root(config),
            duration=options.DURATION.read(config),
            inactivity_timeout=options.INACTIVITY_TIMEOUT.read(config),
            connect_timeout=options.CONNECT_TIMEOUT.read(config),
            clock=options.CLOCK.read(config),
            strict_match=options.STRICT_MATCH.read(config),
            conversation_end_policy=options.CONVERSATION_END_POLICY.read(config),
            judge=judge_settings(config),
            judge_threshold=THRESHOLD.read(config),
            min_agent_turns=options.MIN_AGENT_TURNS.read(config),
            auto_resume_on_stale=options.AUTO_RESUME_ON_STALE.read(config),
            auto_resume_on_insufficient_turns=options.AUTO_RESUME_ON_INSUFFICIENT_TURNS.read(config),
            max_auto_retries=options.MAX_AUTO_RETRIES.read(config),
            auto_retry_backoff_secs=options.AUTO_RETRY_BACKOFF_SECS.read(config),
            resume=_resumed_run(config),
            concurrency=options.CONCURRENCY.read(config),
            pack_roots=_pack_roots(config),
            worker=int(getattr(config, "workerinput", {}).get(WORKER_INPUT, 0)),
        )

    def run_settings(self) -> RunSettings:
        """Return the part that a run needs."""
        return RunSettings(
            clock=self.clock,
            max_duration=self.duration,
            inactivity_timeout=self.inactivity_timeout,
            connect_timeout=self.connect_timeout,
            strict_match=self.strict_match,
            judge_threshold=self.judge_threshold,
            conversation_end_policy=self.conversation_end_policy,
            min_agent_turns=self.min_agent_turns,
            auto_resume_on_stale=self.auto_resume_on_stale,
            auto_resume_on_insufficient_turns=self.auto_resume_on_insufficient_turns,
            max_auto_retries=self.max_auto_retries,
            auto_retry_backoff_secs=self.auto_retry_backoff_secs,
            on_turn=self.on_turn,
            taken=self.taken,
        )

    def packs(self) -> tuple[Pack, ...]:
        """Return the packs of this run, the built-in one first. Nothing of them is imported."""
        from pytest_voiceeval.scenarios.packs import packs_of  # noqa: PLC0415 - light start

        return packs_of(self.pack_roots)


def _base(config: pytest.Config, option: Option[str]) -> Path:
    """Return where a relative path starts: on the command line where the user is, in the ini at the root."""
    return config.invocation_params.dir if option.is_flagged(config) else config.rootpath


def _resumed_run(config: pytest.Config) -> Path | None:
    option = options.RESUME
    text = option.read(config)
    if not text:
        return None
    if agreed := getattr(config, "workerinput", {}).get(FOLDER_INPUT):
        return Path(agreed)  # that the controller found
    from pytest_voiceeval.run.resume import find_run  # noqa: PLC0415 - light start

    output_dir = _base(config, options.OUTPUT_DIR) / options.OUTPUT_DIR.read(config)
    try:
        return find_run(text, output_dir, _base(config, option))
    except ValueError as exc:
        raise pytest.UsageError(f"{option.name(config)}={text}: {exc}") from None


def _bot(config: pytest.Config, option: Option[str]) -> str:
    """Return what names a bot; the path of a profile as it holds wherever the process is."""
    text = option.read(config)
    is_path = text.endswith((".yaml", ".yml")) or "/" in text
    if text.startswith("cmd:") or bot_options.is_url_list(text) or not is_path:
        return text
    return str(_base(config, option) / Path(text).expanduser())


def _process(
    config: pytest.Config, bot: Option[str], cwd: Option[str], env: Option[dict[str, str]]
) -> ProcessSettings:
    """Return how the command is started that ``bot`` names.

    Raises:
        pytest.UsageError: if a folder is not there, or a flag is given that is of no use to such a bot.
    """
    folder = bot_options.working_folder(cwd, config, _base(config, cwd))
    seconds = options.START_TIMEOUT.read(config)
    process = ProcessSettings(seconds, folder, env.read(config), _pack_roots(config))
    of_commands: list[Option[Any]] = [cwd, env, *([bot_options.AGENT_PATH] if bot is options.AGENT else [])]
    for option in of_commands:
        option.read(config)  # what is wrong with it is told first
        if option.is_flagged(config) and not bot.read(config).startswith("cmd:"):
            raise pytest.UsageError(
                f"{option.flag}: it is for a bot that is a command, and {bot.flag} is "
                f"{shown(bot.read(config))}; leave it out, or write {bot.flag}='cmd:… {{port}}'"
            )
    return process


def _cache_dir(config: pytest.Config) -> Path | None:
    from pytest_voiceeval.bots.speech_cache import cache_folder  # noqa: PLC0415 - light start

    option = options.CACHE_DIR
    text = option.read(config)
    try:
        return cache_folder(text, _base(config, option))
    except ValueError as exc:
        raise pytest.UsageError(f"{option.name(config)}={text}: {exc}") from None


def _data_root(config: pytest.Config) -> Path | None:
    option = options.DATA_ROOT
    text = option.read(config)
    if not text:
        return None
    folder = _base(config, option) / os.path.expanduser(text)
    if not folder.is_dir():
        raise pytest.UsageError(f"{option.name(config)}={text}: there is no folder {folder}")
    return folder.resolve()


def _pack_roots(config: pytest.Config) -> tuple[Path, ...]:
    """Return the root folder, if it has files that define scenarios, and those that ``voice_packs`` names."""
    from pytest_voiceeval.scenarios.packs import is_pack  # noqa: PLC0415 - light start

    named: list[Path] = config.getini("voice_packs")
    for root in named:
        if not (root / "scenarios").is_dir():
            raise pytest.UsageError(f"voice_packs={root}: no folder 'scenarios' in it; name the folder above")
    root = config.rootpath
    return ((root,) if is_pack(root) else ()) + tuple(named)


settings_key = pytest.StashKey[Settings]()
