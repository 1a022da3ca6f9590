"""The jitter buffer and its resampler."""

from __future__ import annotations

import numpy as np
import pytest
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_voiceeval.audio.jitter import JitterBuffer
from pytest_voiceeval.audio.onsets import audible_span
from pytest_voiceeval.audio.pcm import interleave, to_float, to_int16
from pytest_voiceeval.audio.resampling import StreamResampler

OUT = 16_000
FRAME = 320


def tone(seconds: float, rate: int, hz: float = 440.0, level: float = 0.5) -> np.ndarray:
    t = np.arange(int(seconds * rate)) / rate
    return (level * 32767 * np.sin(2 * np.pi * hz * t)).astype("<i2")


def play(chunks: list[tuple[float, bytes]], rate: int, until: float) -> np.ndarray:
    """Return what a buffer plays of chunks that come in at the given times."""
    buffer = JitterBuffer(OUT, FRAME)
    waiting = list(chunks)
    frames = []
    for tick in range(round(until / 0.02)):
        now = tick * 0.02
        while waiting and waiting[0][0] <= now:
            at, pcm = waiting.pop(0)
            buffer.push(pcm, rate, 1, at)
        frames.append(buffer.pop(now).samples)
    return np.concatenate(frames)


def paced(pcm: np.ndarray, rate: int, chunk_seconds: float, start: float = 0.0) -> list[tuple[float, bytes]]:
    size = round(chunk_seconds * rate)
    return [
        (start + i * chunk_seconds, pcm[i * size : (i + 1) * size].tobytes())
        for i in range(-(-len(pcm) // size))
    ]


def aligned_snr(reference: np.ndarray, found: np.ndarray) -> float:
    """Return dB of ``reference`` over the difference, at the best whole-sample shift."""
    reference = reference.astype(float)
    size = len(found)  # np.correlate takes as long as the product of both lengths
    lags = np.fft.irfft(np.fft.rfft(found, size) * np.conj(np.fft.rfft(reference, size)), size)
    at = int(np.argmax(lags[: size - len(reference) + 1]))
    error = found[at : at + len(reference)] - reference
    return float(10 * np.log10((reference**2).sum() / max((error**2).sum(), 1e-9)))


@pytest.mark.parametrize("chunk", [0.010, 0.016, 0.020, 0.1])
@pytest.mark.parametrize("rate", [8_000, 22_050, 24_000, 48_000])
def test_a_tone_in_chunks_sounds_as_if_resampled_in_one_piece(rate: int, chunk: float) -> None:
    sound = tone(1.0, rate)
    played = play(paced(sound, rate, chunk), rate, 2.0)
    whole = soxr.resample(sound.astype(np.float32), rate, OUT, quality="HQ")
    assert aligned_snr(whole, played) >= 60


def test_a_pause_of_300_ms_leaves_no_click() -> None:
    first, second = tone(0.5, 24_000), tone(0.5, 24_000)
    chunks = paced(first, 24_000, 0.016) + paced(second, 24_000, 0.016, start=0.8)
    played = play(chunks, 24_000, 2.0)
    for sound in (first, second):
        whole = soxr.resample(sound.astype(np.float32), 24_000, OUT, quality="HQ")
        assert aligned_snr(whole, played) >= 60
    span = audible_span(played)
    assert span is not None
    assert (span[1] - span[0]) / OUT == pytest.approx(1.3, abs=0.021)


@given(milliseconds=st.integers(1, 200), rate=st.sampled_from([8_000, 16_000, 24_000, 44_100]))
@settings(max_examples=40, deadline=None)
def test_an_utterance_however_short_is_played_whole_and_before_the_next(milliseconds: int, rate: int) -> None:
    sound = tone(milliseconds / 1000, rate, hz=200.0, level=0.9)
    first = play(paced(sound, rate, 0.02), rate, 1.0)
    both = play(paced(sound, rate, 0.02) + paced(sound, rate, 0.02, start=1.0), rate, 2.0)
    np.testing.assert_array_equal(both[: len(first)], first)
    assert audible_span(first[int(0.5 * OUT) :]) is None
    expected = int(np.abs(sound.astype(int)).sum() * OUT / rate)
    if milliseconds >= 20:
        assert np.abs(first.astype(int)).sum() == pytest.approx(expected, rel=0.02)


def test_nothing_is_lost_or_doubled_in_a_long_stream() -> None:
    sound = np.random.default_rng(1).normal(0, 3000, 24_000 * 20).astype("<i2")
    played = play(paced(sound, 24_000, 0.02), 24_000, 21.0)
    whole = soxr.resample(sound.astype(np.float32), 24_000, OUT, quality="HQ")
    start = int(0.08 * OUT)
    assert aligned_snr(whole[: OUT * 19], played[start - 400 :]) >= 60


def test_a_cleared_buffer_is_silent_at_once() -> None:
    buffer = JitterBuffer(OUT, FRAME)
    buffer.push(tone(1.0, 24_000).tobytes(), 24_000, 1, 0.0)
    assert buffer.pop(0.2).samples.any()
    assert buffer.clear() > 0.5
    assert buffer.empty
    assert not buffer.pop(0.22).samples.any()


@pytest.mark.parametrize("rate", [16_000, 24_000])
def test_what_follows_a_cleared_burst_is_dated_from_its_own_arrival(rate: int) -> None:
    buffer = JitterBuffer(OUT, FRAME)
    buffer.push(tone(3.0, rate).tobytes(), rate, 1, 0.0)
    buffer.pop(0.2)
    buffer.clear()
    for tick in range(10):
        buffer.push(tone(0.02, rate).tobytes(), rate, 1, 0.5 + tick * 0.02)
    _, delay = next(frame for tick in range(30, 40) if (frame := buffer.pop(tick * 0.02)).delays).delays[0]
    assert 0.07 < delay < 0.13


def test_the_delay_of_a_sample_is_told_from_its_arrival() -> None:
    buffer = JitterBuffer(OUT, FRAME)
    for tick in range(10):
        buffer.push(tone(0.02, 24_000).tobytes(), 24_000, 1, 1.0 + tick * 0.02)
    assert not buffer.pop(1.08).delays
    offset, delay = buffer.pop(1.1).delays[0]
    assert (offset, delay) == (0, pytest.approx(0.1, abs=0.002))


def test_a_sender_that_cannot_keep_up_is_heard_in_a_few_pieces() -> None:
    chunks = [(at * 2.5, pcm) for at, pcm in paced(tone(3.0, 24_000, hz=200.0), 24_000, 0.02)]
    played = play(chunks, 24_000, 10.0).astype(int)
    loud = np.abs(played).reshape(-1, FRAME).max(axis=1) > 200
    starts = int((np.diff(loud.astype(int)) == 1).sum())
    assert starts < 12
    assert loud.sum() * 0.02 == pytest.approx(3.0, abs=0.5)
    longest = max(len(run) for run in "".join("x" if x else " " for x in loud).split())
    assert longest * 0.02 > 0.4


def test_the_buffer_is_shallow_again_for_the_next_utterance() -> None:
    slow = [(at * 2.5, pcm) for at, pcm in paced(tone(1.0, 24_000), 24_000, 0.02)]
    after = paced(tone(0.5, 24_000), 24_000, 0.02, start=5.0)
    played = play(slow + after, 24_000, 6.0)[int(4.5 * OUT) :]
    span = audible_span(played)
    assert span is not None
    assert span[0] / OUT == pytest.approx(0.6, abs=0.03)


def test_a_change_of_rate_in_the_middle_keeps_both_parts() -> None:
    chunks = paced(tone(0.2, 24_000), 24_000, 0.02)
    buffer = JitterBuffer(OUT, FRAME)
    for at, pcm in chunks:
        buffer.push(pcm, 24_000, 1, at)
    for at, pcm in paced(tone(0.2, 8_000), 8_000, 0.02, start=0.2):
        buffer.push(pcm, 8_000, 1, at)
    played = np.concatenate([buffer.pop(0.5 + i * 0.02).samples for i in range(30)])
    span = audible_span(played)
    assert span is not None
    assert (span[1] - span[0]) / OUT == pytest.approx(0.4, abs=0.03)


def test_float_and_int16_are_exact_inverses() -> None:
    samples = np.arange(-32768, 32768, 7, dtype="<i2")
    np.testing.assert_array_equal(to_int16(to_float(samples.tobytes())), samples)


def test_stereo_is_mixed_down_and_put_side_by_side() -> None:
    stereo = interleave(np.array([100, 200], np.int16), np.array([300], np.int16))
    np.testing.assert_array_equal(np.frombuffer(stereo, "<i2"), [100, 300, 200, 0])
    np.testing.assert_array_equal(to_int16(to_float(stereo, channels=2)), [200, 100])


def test_a_flush_without_input_gives_only_the_margin() -> None:
    resampler = StreamResampler(24_000, OUT)
    assert not resampler.flush().any()


@given(
    st.lists(st.integers(1, 2000), min_size=1, max_size=40), st.sampled_from([8_000, 22_050, 24_000, 48_000])
)
def test_what_comes_out_of_a_resampler_does_not_depend_on_how_its_stream_was_cut(
    sizes: list[int], rate: int
) -> None:
    sound = tone(sum(sizes) / rate + 1, rate).astype(np.float32)[: sum(sizes)]
    in_chunks, at_once = StreamResampler(rate, OUT), StreamResampler(rate, OUT)
    chunks = np.split(sound, np.cumsum(sizes)[:-1])
    pieces = [*(in_chunks.push(chunk) for chunk in chunks), in_chunks.flush()]
    whole = np.concatenate([at_once.push(sound), at_once.flush()])
    assert np.array_equal(np.concatenate(pieces)[: len(whole)], whole)


@pytest.mark.parametrize("rate", [16_000, 24_000])
def test_sound_behind_a_chunk_that_came_late_is_dated_from_its_own_arrival(rate: int) -> None:
    sound = tone(0.4, rate)
    chunks = paced(sound, rate, 0.02)
    late = [(at + (0.03 if number >= 10 else 0.0), pcm) for number, (at, pcm) in enumerate(chunks)]
    buffer = JitterBuffer(OUT, FRAME)
    delays = []
    for tick in range(30):
        while late and late[0][0] <= tick * 0.02:
            at, pcm = late.pop(0)
            buffer.push(pcm, rate, 1, at)
        frame = buffer.pop(tick * 0.02)
        delays += [tick * 0.02 + offset / OUT - delay for offset, delay in frame.delays]
    arrivals = np.diff(delays)
    assert max(arrivals) > 0.02
    assert delays[0] == pytest.approx(0.0, abs=0.002)
    assert delays == sorted(delays)


def spoken(
    lengths: list[float], pauses: list[float], rate: int
) -> tuple[list[float], list[tuple[float, bytes]]]:
    """Return when utterances begin, and their chunks, sent as they are spoken."""
    begins, chunks, at = [], [], 0.0
    for length, pause in zip(lengths, pauses, strict=True):
        begins.append(at)
        chunks += paced(tone(length, rate), rate, 0.02, start=at)
        at += length + pause
    return begins, chunks


def heard(played: np.ndarray) -> list[tuple[float, float]]:
    """Return the stretches of tone in what was played, in seconds."""
    loud = np.flatnonzero(np.abs(played.astype(int)) > 2000)
    ends = np.flatnonzero(np.diff(loud) > 0.01 * OUT)
    begins = [loud[0], *loud[ends + 1]]
    return [(b / OUT, e / OUT) for b, e in zip(begins, [*loud[ends], loud[-1]], strict=True)]


@pytest.mark.parametrize("length", [0.15, 0.3, 1.0])
@pytest.mark.parametrize("pause", [0.06, 0.08, 0.1, 0.15, 0.2, 0.23, 0.3, 0.7])
@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 48_000])
def test_pauses_are_as_long_as_they_were_and_utterances_whole(rate: int, pause: float, length: float) -> None:
    begins, chunks = spoken([length] * 8, [pause] * 8, rate)
    stretches = heard(play(chunks, rate, begins[-1] + length + 1.0))
    assert len(stretches) == len(begins)
    depth = {8_000: 0.18, 16_000: 0.08, 24_000: 0.1, 48_000: 0.1}[rate]
    for begin, (first, last) in zip(begins, stretches, strict=True):
        assert first - begin == pytest.approx(depth, abs=0.02)
        assert last - first == pytest.approx(length, abs=0.003)


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000])
def test_short_pauses_do_not_use_the_depth_up(rate: int) -> None:
    begins, chunks = spoken([0.3] * 12, [0.03] * 12, rate)
    stretches = heard(play(chunks, rate, begins[-1] + 2.0))
    assert sum(last - first for first, last in stretches) == pytest.approx(12 * 0.3, abs=0.03)
    assert all(last - first > 0.29 for first, last in stretches)
    assert stretches[-1][1] - (begins[-1] + 0.3) == pytest.approx(stretches[0][0], abs=0.05)


@pytest.mark.parametrize("at_once", [1, 2, 4])
@pytest.mark.parametrize("pause", [0.07, 0.1, 0.15])
@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000])
def test_pauses_do_not_depend_on_how_many_messages_come_at_once(
    rate: int, pause: float, at_once: int
) -> None:
    chunks = []
    for begin in (0.0, 0.32 + pause):
        for at, pcm in paced(tone(0.32, rate), rate, 0.08, start=begin):
            size = len(pcm) // at_once
            chunks += [(at, pcm[i * size : (i + 1) * size]) for i in range(at_once)]
    (_, ended), (begun, _) = heard(play(chunks, rate, 2.0))
    assert begun - ended == pytest.approx(pause, abs=0.015)


@pytest.mark.parametrize("stall", [0.03, 0.05, 0.06])
@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000])
def test_a_sender_that_stalls_and_catches_up_is_heard_without_a_gap(rate: int, stall: float) -> None:
    chunks = paced(tone(2.0, rate), rate, 0.02)
    late = [(at if at < 1.0 else max(at, 1.0 + stall), pcm) for at, pcm in chunks]
    ((first, last),) = heard(play(late, rate, 3.0))
    assert last - first == pytest.approx(2.0, abs=0.003)


@given(
    rate=st.sampled_from([8_000, 16_000, 22_050, 24_000]),
    lengths=st.lists(st.integers(8, 40), min_size=1, max_size=8),
    data=st.data(),
)
@settings(max_examples=50)
def test_each_utterance_is_heard_whole_whatever_the_pauses(
    rate: int, lengths: list[int], data: st.DataObject
) -> None:
    count = len(lengths)
    pauses = data.draw(st.lists(st.integers(60, 900), min_size=count, max_size=count))
    begins, chunks = spoken([n * 0.02 for n in lengths], [ms / 1000 for ms in pauses], rate)
    stretches = heard(play(chunks, rate, begins[-1] + 3.0))
    assert [last - first for first, last in stretches] == pytest.approx(
        [n * 0.02 for n in lengths], abs=0.004
    )
    delays = [first - begin for begin, (first, _) in zip(begins, stretches, strict=True)]
    assert max(delays) - min(delays) < 0.045


@pytest.mark.parametrize(("one", "other"), [(24_000, 16_000), (16_000, 24_000), (24_000, 48_000)])
def test_a_change_of_rate_leaves_no_gap(one: int, other: int) -> None:
    buffer = JitterBuffer(OUT, FRAME)
    frames = []
    for tick in range(75):
        rate = one if tick // 10 % 2 else other
        if tick < 50:
            buffer.push(tone(0.02, rate, hz=500.0).tobytes(), rate, 1, tick * 0.02)
        frames.append(buffer.pop(tick * 0.02).samples)
    ((first, last),) = heard(np.concatenate(frames))
    assert last - first == pytest.approx(1.0, abs=0.003)
