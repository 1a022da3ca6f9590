"""Calls at once in one process: how long they take together, and how far their latencies are from the truth.

Run by ``tox -e bench``. Wall time; the bots are scripted, know when they answer, and run on the calls' loop.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

from timing import print_figure

from pytest_voiceeval import Actions, Persona, Resources, Scenario, SuccessSignal, Task
from pytest_voiceeval.bridge.clock import RealClock
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.turns import AGENT, USER, Side
from pytest_voiceeval.run.retries import hold_beside_others_until_it_counts
from pytest_voiceeval.run.settings import RunSettings
from pytest_voiceeval.run.together import CallThread
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message

CALLS = 8
ANSWERS = [0.5 + 0.1 * number for number in range(CALLS)]
"""Seconds that the agent of each call waits before it answers."""


class Talk(Scenario):
    """Ten seconds of talk."""

    name = "benchmark__talk"
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    max_duration = 60.0
    user_persona = agent_persona = Persona(role="person")
    user_task = agent_task = Task(goal="talk")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()


class Scripted:
    """A bot that answers after a time that it knows."""

    clocks = ("real",)

    def __init__(self, side: Side, lines: list[Utterance], answer_after: float) -> None:
        self.side = side
        self.label = f"scripted {side}"
        self._bot = FakeBot(side, lines, answer_after=answer_after)

    def open(self, scenario: Scenario) -> AbstractAsyncContextManager[str]:
        """Listen for one call."""
        return self._bot.serve()

    def close(self) -> None:
        """Do nothing."""


def bots(answer_after: float) -> dict[str, Scripted]:
    """Return a caller and an agent for one call of about ten seconds."""
    last = Utterance("Bye.", 1.0, late_sends=(exit_message(),))
    agent = [Utterance("Welcome.", 1.5), Utterance("Yes.", 1.5), last]
    user = [Utterance("Hello.", 1.5, 500), Utterance("Thanks.", 1.5, 500)]
    return {"agent": Scripted(AGENT, agent, answer_after), "user": Scripted(USER, user, 0.5)}


def hold(at_once: int, folder: Path) -> tuple[float, float, list[Conversation]]:
    """Return how long the calls took, wall and CPU, and the calls."""
    thread = CallThread(RealClock(), at_once)
    begun, worked = time.monotonic(), time.process_time()
    held = []
    for number, answer_after in enumerate(ANSWERS):
        own = folder / f"{at_once}_{number}"
        own.mkdir()
        call = partial(hold_beside_others_until_it_counts, Talk(), folder=own, settings=RunSettings())
        held.append(thread.submit(partial(call, **bots(answer_after))))
    conversations = [call.outcome.result() for call in held]
    seconds, work = time.monotonic() - begun, time.process_time() - worked
    thread.close()
    return seconds, work, conversations


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        for at_once in (1, CALLS):
            seconds, work, calls = hold(at_once, Path(name))
            off = [
                latency.seconds - truth
                for call, truth in zip(calls, ANSWERS, strict=True)
                for latency in call.latencies
            ]
            print_figure(f"{CALLS} calls, {at_once} at once", seconds)
            print_figure("  of that CPU time, the bots' included", work)
            print_figure("  latency beyond the script's, median", statistics.median(off))
            print_figure("  the one furthest from that", max(abs(o - statistics.median(off)) for o in off))


if __name__ == "__main__":
    main()
