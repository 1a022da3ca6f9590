from __future__ import annotations

import asyncio

import pytest

from pytest_voiceeval.bridge.ticker import Ticker
from pytest_voiceeval.testing import VirtualClock


def test_beats_come_at_their_times_and_late_ones_at_once() -> None:
    async def main() -> list[tuple[int, float]]:
        loop = asyncio.get_running_loop()
        begun, beats = loop.time(), []

        def beat(number: int) -> None:
            beats.append((number, round(loop.time() - begun, 6)))
            if number == 2:
                loop.jump(0.07)  # type: ignore[attr-defined]  # what takes long

        ticker = Ticker(begun, 0.02, beat)
        await asyncio.sleep(0.15)
        ticker.stop()
        await asyncio.sleep(1)
        return beats

    beats = VirtualClock().run(main())
    assert [number for number, _ in beats] == list(range(len(beats)))
    assert [at for _, at in beats] == pytest.approx([0, 0.02, 0.04, 0.11, 0.11, 0.11, 0.12, 0.14])


def test_a_beat_that_fails_is_the_last_and_is_told() -> None:
    beats = []

    def beat(number: int) -> None:
        beats.append(number)
        if number == 3:
            raise LookupError("gone")

    async def main() -> None:
        ticker = Ticker(asyncio.get_running_loop().time(), 0.02, beat)
        try:
            await ticker.failed
        finally:
            ticker.stop()

    with pytest.raises(LookupError, match="gone"):
        VirtualClock().run(main())
    assert beats == [0, 1, 2, 3]
