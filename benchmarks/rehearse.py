"""Hold every rehearsed scenario three times on the charged clock; compare the recordings bit for bit.

The first time nothing is kept; the second time its lines are, and all that is said is recognised again; the
third time what was recognised is kept too, as in any further run of a user's. Run by
``tox -e rehearse [-- SELECTOR ...]``. Exit code 1 if a call is not passed, or differs from its first run.
There is no judge: a call that only a judge can score is "unjudged", and no fault if nothing else failed.
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
from pytest_voiceeval.bots.recognition_cache import RecognitionCache
from pytest_voiceeval.bots.speech_cache import SpeechCache
from pytest_voiceeval.model.metrics import Metrics, Verdict
from pytest_voiceeval.run.evaluate import evaluate_conversation, hold
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.scenarios.registry import get_eval_scenario, list_eval_scenarios, select


@dataclass(frozen=True)
class Call:
    """One call held."""

    verdict: str
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
    return Call(verdict_of(metrics), digest, conversation.duration_seconds, wall, cpu)


def verdict_of(metrics: Metrics) -> str:
    """Return "passed", "FAILED", or "unjudged" where only a judge could tell the one from the other."""
    if metrics.verdict is Verdict.NOT_APPLICABLE and not metrics.scores.breakdown.failed:
        return "unjudged"
    return "passed" if metrics.successful else "FAILED"


def held_thrice(name: str, folder: Path) -> list[Call]:
    """Hold three calls: with nothing kept in ``folder``, with lines kept, with all kept."""
    all_, lines = SpeechCache(folder), SpeechCache(folder)
    lines.recognised = RecognitionCache(None)
    return [held(name, cache) for cache in (all_, lines, all_)]


def told(name: str, calls: list[Call]) -> str:
    """Return the line for a scenario."""
    _, again, kept = calls
    verdict = "FAILED" if any(call.verdict == "FAILED" for call in calls) else kept.verdict
    same = len({call.recording for call in calls}) == 1
    return (
        f"{name:<41} {verdict:<8} {kept.sound_seconds:7.1f} "
        f"{again.wall_seconds:7.2f} {again.cpu_seconds:6.2f} {again.sound_seconds / again.wall_seconds:6.1f} "
        f"{kept.wall_seconds:8.2f} {kept.cpu_seconds:6.2f} {kept.sound_seconds / kept.wall_seconds:6.1f}  "
        f"{'same' if same else 'DIFFERS'} {kept.recording[:12]}"
    )


def summed(calls: list[Call]) -> str:
    """Return the sums of some calls as text."""
    sound, wall, cpu = (
        sum(getattr(call, key) for call in calls) for key in ("sound_seconds", "wall_seconds", "cpu_seconds")
    )
    return (
        f"{wall / len(calls):.2f} s a call, {cpu / len(calls):.2f} CPU s a call, "
        f"{sound / wall:.1f} s of sound a wall second"
    )


def main(selectors: list[str]) -> int:
    """Print a line for each scenario, and the sums; return the exit code."""
    warnings.simplefilter("ignore", DeprecationWarning)
    builtin_pack().load()
    names = select(selectors) if selectors else list_eval_scenarios()
    names = [name for name in names if (scenario := get_eval_scenario(name)) and scenario.rehearsal]
    print(f"{'':<41} {'':>16}  recognised again {'':>4}  all kept")
    print(f"{'scenario':<41} verdict  sound s  wall s  CPU s  times   wall s  CPU s  times  recording")
    faults = 0
    runs: list[list[Call]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            calls = held_thrice(name, Path(folder))
            faults += len({call.recording for call in calls}) > 1 or any(
                call.verdict == "FAILED" for call in calls
            )
            runs.append(calls)
            print(told(name, calls), flush=True)
    print(f"{len(names)} scenarios three times, {faults} with a fault")
    print(f"recognised again: {summed([calls[1] for calls in runs])}")
    print(f"all kept:         {summed([calls[2] for calls in runs])}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
