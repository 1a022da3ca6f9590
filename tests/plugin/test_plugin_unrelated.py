"""Runs that have nothing to do with voice: the plugin, and what came with it, must not be noticed."""

from __future__ import annotations

import sys

import pytest


@pytest.mark.parametrize("ini", ["", "filterwarnings = error\n", "filterwarnings = error\nstrict = true\n"])
def test_an_unrelated_project_runs_as_before(pytester: pytest.Pytester, ini: str) -> None:
    pytester.makeini("[pytest]\n" + ini)
    pytester.makepyfile("def test_one(): pass")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.OK
    output = result.stdout.str() + result.stderr.str()
    assert "Warning" not in output
    assert "voice" not in output.replace("voiceeval-", "")


HEAVY = [
    *("asyncio", "ssl", "numpy", "pipecat", "pydantic", "openai", "aiohttp", "websockets", "yaml", "loguru"),
    *("pytest_voiceeval.bridge", "pytest_voiceeval.tools", "pytest_voiceeval.scenarios.registry"),
    *("pytest_voiceeval.scoring.judge_settings", "pytest_voiceeval.model.conversation"),
    *("pytest_voiceeval.model.metrics", "pytest_voiceeval.run.agent_turns"),
    *("pytest_voiceeval.report.failure", "pytest_voiceeval.run.aggregate"),
    *("pytest_voiceeval.plugin.ahead", "pytest_voiceeval.plugin.checks", "pytest_voiceeval.report.terminal"),
]
"""What costs a start of pytest more than it may, if it has nothing to do with scenarios."""


@pytest.mark.parametrize("arguments", ["", "-k plain", "-m plain", "--setup-plan"])
def test_an_unrelated_run_loads_nothing_heavy(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile("def test_plain(): pass")
    code = (
        "import sys, pytest\n"
        f"pytest.main(['-p', 'pytest_voiceeval.plugin', '-p', 'no:cacheprovider', *{arguments.split()!r}])\n"
        f"print('LOADED', sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    result = pytester.run(sys.executable, "-c", code)
    result.stdout.fnmatch_lines(["LOADED []"])
