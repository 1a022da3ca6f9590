"""The bridge alone, on wall time: scripted bots in another process, over loopback sockets.

Run by ``tox -e bench``. A bot says a stretch of 16 kHz sound whose frames carry their number as their level,
so that the other one can tell when each of them came.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import statistics
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from multiprocessing.connection import Connection as Pipe

import numpy as np

from pytest_voiceeval.audio.jitter import DEPTH_SECONDS
from pytest_voiceeval.bridge.call import hold_call
from pytest_voiceeval.bridge.clock import RealClock
from pytest_voiceeval.bridge.endpoint import Peer
from pytest_voiceeval.bridge.settings import CallSettings
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.parts import Actions, Persona, Resources, Task
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.testing import BotConnection, FakeBot, Utterance, exit_message
from pytest_voiceeval.wire.frames import encode_audio

STEP_SECONDS = 0.02
STEP_SAMPLES = 320


class Talk(Scenario):
    """A call of which only the sound matters."""

    name = "bench__talk"
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    user_persona = agent_persona = Persona(role="bot")
    user_task = agent_task = Task(goal="Talk.")
    user_actions = agent_actions = Actions()
    user_resources = agent_resources = Resources()


class Counter(FakeBot):
    """Says steps of 20 ms, each at a level that is its number, in frames of ``chunk_seconds``."""

    sent_at: float = 0.0

    async def _say(self, connection: BotConnection, line: Utterance) -> None:
        if line.hz:
            await super()._say(connection, line)
            return
        loop = asyncio.get_running_loop()
        steps = round(line.seconds / STEP_SECONDS)
        levels = np.repeat(1000 + 4 * np.arange(steps), STEP_SAMPLES).astype("<i2")
        size = round(self._chunk_seconds * 16_000)
        self.sent_at = loop.time()
        for number, at in enumerate(range(0, len(levels), size)):
            await asyncio.sleep(max(self.sent_at + number * self._chunk_seconds - loop.time(), 0))
            await connection.send(encode_audio(levels[at : at + size].tobytes(), 16_000))
        for payload in line.late_sends:
            await self._tell(connection, "server-message", payload)


def serve(pipe: Pipe, calls: int, chunk_seconds: float, seconds: float) -> None:
    """Serve the bots of ``calls`` calls; send their URLs, then what their listeners got."""

    async def main() -> None:
        async with AsyncExitStack() as stack:
            pairs = []
            for _ in range(calls):
                line = Utterance("", seconds, hz=0, late_sends=(exit_message(),))
                agent = Counter("agent", [line], chunk_seconds=chunk_seconds)
                user = FakeBot("user")
                urls = [await stack.enter_async_context(bot.serve()) for bot in (user, agent)]
                pairs.append((user, agent, urls))
            pipe.send([urls for _, _, urls in pairs])
            await asyncio.to_thread(pipe.recv)
            pipe.send([delays(user, agent) for user, agent, _ in pairs])

    asyncio.run(main())


def delays(user: FakeBot, agent: Counter) -> list[float]:
    """Return for each step when it was heard after it was sent, in seconds; -1 for one that never was."""
    heard: dict[int, float] = {}
    for at, pcm in user.heard:
        frame = np.frombuffer(pcm, "<i2")
        for offset in range(0, len(frame), 8):
            level = int(frame[offset])
            if level >= 1000 and (level - 1000) % 4 == 0:
                heard.setdefault((level - 1000) // 4, at + offset / 16_000)
    count = max(heard, default=-1) + 1
    # A chunk brings all its steps at once; each is due when it would be spoken.
    return [heard[i] - agent.sent_at - i * STEP_SECONDS if i in heard else -1 for i in range(count)]


def measured(
    calls: int, chunk_seconds: float, seconds: float
) -> tuple[list[float], float, list[Conversation]]:
    """Return all delays, the bridge's CPU seconds a call second, and the conversations."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    bots = spawn.Process(target=serve, args=(there, calls, chunk_seconds, seconds))
    bots.start()
    urls: Sequence[Sequence[str]] = here.recv()

    async def all_calls() -> list[Conversation]:
        settings = CallSettings(max_duration=seconds + 30, inactivity_timeout=None)
        return await asyncio.gather(
            *(
                hold_call(Talk(), user=Peer("user", u, u), agent=Peer("agent", a, a), settings=settings)
                for u, a in urls
            )
        )

    cpu = time.process_time()
    conversations = RealClock().run(all_calls())
    share = (time.process_time() - cpu) / sum(c.duration_seconds for c in conversations)
    here.send("done")
    found = [delay for call in here.recv() for delay in call]
    bots.join()
    return found, share, conversations


def main() -> None:
    """Print the figures."""
    print(f"bridge alone, {os.cpu_count()} cores; delay of 20 ms steps beyond the jitter buffer's depth:")
    measured(1, 0.02, 1)  # imports, and the first run of everything
    for calls, chunk, seconds in ((1, 0.02, 30), (1, 0.01, 15), (1, 0.1, 15), (16, 0.02, 15)):
        found, share, conversations = measured(calls, chunk, seconds)
        late = sorted(delay - DEPTH_SECONDS for delay in found if delay >= 0)
        lost = sum(delay < 0 for delay in found) + calls * round(seconds / STEP_SECONDS) - len(found)
        p99 = late[int(0.99 * (len(late) - 1))] if late else float("nan")
        print(
            f"  {calls:2d} calls, {chunk * 1000:3.0f} ms frames: "
            f"median {statistics.median(late) * 1000:5.1f}, p99 {p99 * 1000:5.1f}, "
            f"max {late[-1] * 1000:5.1f} ms; {lost} steps lost; "
            f"{share * 100:.2f} % of a core a call; ended {conversations[0].stop_reason.value}",
            flush=True,
        )


if __name__ == "__main__":
    main()
