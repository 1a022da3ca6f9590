"""The options that say how an agent is spoken to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.__main__ import main
from pytest_voiceeval.bots.command import ProcessSettings
from pytest_voiceeval.bots.launch import LocalBot
from pytest_voiceeval.bots.named import named_bot
from pytest_voiceeval.bridge.parties import COLUMNS, PARTIES, capability_table
from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.wire.dialect import PROTOCOL_NAMES, Dialect

README = Path(__file__).parent.parent.parent / "README.md"
URL = "--voice-agent=ws://127.0.0.1:9"
NAMED: dict[str, Any] = {"variant": "gold", "cache_dir": None, "process": ProcessSettings(30.0)}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--voice-agent-protocol=sip"], "*--voice-agent-protocol=sip: choose one of: rtvi, pcm, twilio"),
        (["--voice-agent-mode=grey"], "*--voice-agent-mode=grey: choose one of: auto, evaluated, black-box"),
        (
            ["--voice-agent-pcm-rate=fast"],
            "*--voice-agent-pcm-rate=fast: write a whole number of hertz from 4000*",
        ),
        (["--voice-agent-pcm-rate=1"], "*--voice-agent-pcm-rate=1: write a whole number of hertz*"),
        (["--voice-agent-pcm-encoding=mp3"], "*--voice-agent-pcm-encoding=mp3: choose one of: s16le, f32le*"),
        ([URL, "--voice-agent-pcm-rate=8000"], "*pcm_rate 8000 is of no use with the protocol rtvi*"),
        (
            [URL, "--voice-agent-protocol=twilio", "--voice-agent-mode=evaluated"],
            "*--voice-agent-protocol=twilio --voice-agent-mode=evaluated: an agent that*cannot*",
        ),
        (
            [URL, "--voice-agent-protocol=twilio", "--voice-agent-pcm-encoding=alaw"],
            "*pcm_encoding alaw is of no use with the protocol twilio*",
        ),
        (["--voice-agent-protocol=pcm"], "*the agent is an embedded bot*by an address or a command*"),
        (["--voice-agent-mode=black-box"], "*the agent is an embedded bot*"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(
    project: pytest.Pytester, flags: list[str], message: str
) -> None:
    result = project.runpytest(*flags)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
    result.stderr.no_fnmatch_line("*Traceback*")


def test_the_ini_file_chooses_too(project: pytest.Pytester) -> None:
    project.makeini(
        "[pytest]\nvoice_agent = ws://127.0.0.1:9\nvoice_agent_protocol = pcm\nvoice_agent_pcm_rate = 1\n"
    )
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*voice_agent_pcm_rate=1: write a whole number of hertz*"])


def test_the_endpoint_carries_what_the_options_say(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_endpoint="""
        def test_dialect(voice_agent):
            dialect = voice_agent.dialect
            assert (dialect.protocol, dialect.mode, dialect.rate_hz, dialect.encoding) == (
                "pcm", "auto", 24000, "f32le")
        """
    )
    flags = ("--voice-agent-protocol=pcm", "--voice-agent-pcm-rate=24000", "--voice-agent-pcm-encoding=f32le")
    command = "--voice-agent=cmd:python bot.py --port {port}"
    for agent in (URL, command):
        project.runpytest("test_endpoint.py", agent, *flags).assert_outcomes(passed=1)


def test_the_readme_has_the_table_of_protocols_that_the_code_makes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert capability_table() in README.read_text(encoding="utf-8")
    assert main(["describe", "--protocols"]) == 0
    assert capsys.readouterr().out.strip() == capability_table()


def test_the_table_has_every_protocol() -> None:
    assert set(PARTIES) == set(PROTOCOL_NAMES)
    assert {dialect.protocol for dialect in COLUMNS.values()} == set(PARTIES)
    assert re.search(
        r"^\| learns what was heard \| no \| no \| no \| yes \|$", capability_table(), re.MULTILINE
    )


def test_describe_without_anything_says_what_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe"]) != 0
    assert "Write the name of a scenario, or --protocols" in capsys.readouterr().err


def test_run_refuses_what_does_not_go_together(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = ["run", "--scenarios", "restaurant__pizza_pepperoni", "--output-dir", str(tmp_path)]
    agent = ["--agent", "ws://127.0.0.1:9", "--agent-protocol", "twilio", "--agent-pcm-rate", "8000"]
    assert main([*command, *agent]) != 0
    assert "pcm_rate 8000 is of no use with the protocol twilio" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["ws://127.0.0.1:9", "cmd:python bot.py --port {port}"])
def test_a_bot_that_is_named_speaks_as_it_was_asked_to(text: str, tmp_path: Path) -> None:
    dialect = Dialect("pcm", "black-box", 44_100, "f32le")
    bot = named_bot("agent", text, dialect=dialect, **NAMED, log=tmp_path / "log")
    assert not isinstance(bot, LocalBot)
    assert bot.dialect == dialect
    bot = named_bot("agent", text, **NAMED, log=tmp_path / "log")
    assert not isinstance(bot, LocalBot)
    assert bot.dialect == Dialect(mode="auto")
    bot = named_bot("user", text, **NAMED, log=tmp_path / "log")
    assert not isinstance(bot, LocalBot)
    assert bot.dialect == Dialect(mode="evaluated")


def test_an_embedded_bot_cannot_speak_anything_else(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="is embedded: it speaks rtvi and is evaluated"):
        named_bot("agent", "local", dialect=Dialect("twilio", "auto"), **NAMED, log=tmp_path / "log")
