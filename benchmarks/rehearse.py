"""Hold every rehearsed scenario twice on the charged clock; compare the recordings bit for bit.

Run by ``tox -e rehearse [-- SELECTOR ...]``. Exit code 1 if a call is not passed, or differs from its
first run.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

from pytest_voiceeval.bots.launch import LocalBot
from pytest_voiceeval.bots.profile import load_profile
from pytest_voiceeval.bots.speech_cache import SpeechCache
from pytest_voiceeval.run.evaluate import evaluate_conversation, hold
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.scenarios.registry import get_eval_scenario, list_eval_scenarios, select


@dataclass(frozen=True)
class Call:
    """One call held."""

    passed: bool
    recording: str
    sound_seconds: float
    wall_seconds: float
    cpu_seconds: float


def held(name: str, cache: SpeechCache) -> Call:
    """Hold one call of the scenario ``name`` between embedded, rehearsed bots."""
    scenario = get_eval_scenario(name)
    assert scenario is not None
    profile = load_profile("local")
    settings = RunSettings(clock="charged")
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        conversation = hold(
            scenario,
            user=LocalBot("user", profile, cache=cache),
            agent=LocalBot("agent", profile, cache=cache),
            settings=settings,
            folder=Path(folder),
        )
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        metrics = evaluate_conversation(scenario, conversation, settings=settings, folder=Path(folder))
    digest = hashlib.sha256(conversation.recording.pcm).hexdigest()
    return Call(metrics.successful, digest, conversation.duration_seconds, wall, cpu)


def main(selectors: list[str]) -> int:
    """Print a line for each scenario, and the sums; return the exit code."""
    warnings.simplefilter("ignore", DeprecationWarning)
    builtin_pack().load()
    names = select(selectors) if selectors else list_eval_scenarios()
    names = [name for name in names if (scenario := get_eval_scenario(name)) and scenario.rehearsal]
    print(f"{'scenario':<40} verdict  sound s  wall s  CPU s  times  recording")
    faults = 0
    seconds: list[Call] = []
    with tempfile.TemporaryDirectory() as folder:
        cache = SpeechCache(Path(folder))
        for name in names:
            first, second = held(name, cache), held(name, cache)
            same = first.recording == second.recording
            faults += not (first.passed and second.passed and same)
            seconds.append(second)
            print(
                f"{name:<40} {'passed' if second.passed else 'FAILED':<7} {second.sound_seconds:8.1f} "
                f"{second.wall_seconds:7.2f} {second.cpu_seconds:6.2f} "
                f"{second.sound_seconds / second.wall_seconds:6.1f}  {'same' if same else 'DIFFERS'} "
                f"{second.recording[:12]}",
                flush=True,
            )
    sound, wall = sum(c.sound_seconds for c in seconds), sum(c.wall_seconds for c in seconds)
    cpu = sum(c.cpu_seconds for c in seconds)
    print(
        f"{len(names)} scenarios twice, second runs: {wall / len(names):.2f} s a call, "
        f"{cpu / len(names):.2f} CPU s a call, {sound / wall:.1f} s of sound a wall second; "
        f"{faults} with a fault"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
