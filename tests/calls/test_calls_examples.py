"""The examples of the README, run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("piper", reason="the extra 'local' is not installed")

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def coffee(pytester: pytest.Pytester) -> pytest.Pytester:
    shutil.copytree(ROOT / "examples" / "coffee", pytester.path, dirs_exist_ok=True)
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\nstrict_markers = true\n")
    return pytester


def test_the_coffee_pack_passes_and_fails_as_the_readme_shows(coffee: pytest.Pytester) -> None:
    coffee.makepyfile(
        test_quick="""
        import pytest

        @pytest.mark.voice_scenario("coffee__cancel_latte")
        def test_the_agent_is_quick(voice_conversation):
            assert max(latency.seconds for latency in voice_conversation.latencies) < 3
        """
    )
    result = coffee.runpytest_subprocess("--voice-scenarios=coffee", "test_quick.py", timeout=200)
    result.assert_outcomes(passed=2)
    result = coffee.runpytest_inprocess("--voice-scenarios=coffee", "--voice-rehearsal=wrong-argument")
    result.assert_outcomes(failed=1)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme[readme.index("is_action_match failed in") : readme.index("stop reason: [EXIT] after")]
    assert shown.strip() in result.stdout.str()
