"""Runs that have nothing to do with voice: the plugin, and what came with it, must not be noticed."""

from __future__ import annotations

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
