"""Speech behind OpenAI-compatible endpoints: pipecat's own services, with our limits, attempts and clock."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest_voiceeval.bots.pipecat_import  # noqa: F401 - before anything of pipecat's

# isort: split
from openai.types.audio import Transcription
from pipecat.frames.frames import ErrorFrame, Frame
from pipecat.processors.frameworks.rtvi import RTVIServerMessageFrame
from pipecat.services.openai.stt import OpenAISTTService
from pipecat.services.openai.tts import OpenAITTSService

from pytest_voiceeval.bots.attempts import Attempts, EndpointFailedError, answered
from pytest_voiceeval.bots.endpoint_access import speech_access
from pytest_voiceeval.bots.endpoint_failures import FAILURES, UnusableAnswerError, failure_of
from pytest_voiceeval.bots.http_client import client_for
from pytest_voiceeval.bots.profile_hosted import OpenAiStt, OpenAiTts
from pytest_voiceeval.wire.notices import Notice

_NO_SOUND = ("text/", "application/json", "application/xml")


class HostedSTTService(OpenAISTTService):
    """Recognises speech at an endpoint; an utterance at a time."""

    def __init__(self, hosted: OpenAiStt, **options: Any) -> None:
        self._access = speech_access(hosted)
        settings = self.Settings(model=hosted.model, language=hosted.language, prompt=hosted.prompt)
        super().__init__(api_key=self._access.api_key, settings=settings, **options)
        self._client = client_for(self._access)

    async def cleanup(self) -> None:
        """Release what the service holds."""
        await super().cleanup()  # type: ignore[no-untyped-call]
        await self._client.close()

    async def _transcribe(self, audio: bytes) -> Transcription:
        """Return what ``audio``, a WAV file, says.

        Raises:
            EndpointFailedError: if the endpoint does not tell; the bridge is told.
        """

        async def attempt(attempts: Attempts) -> Transcription:
            heard: object = await attempts.within(super(HostedSTTService, self)._transcribe(audio))
            text = heard if isinstance(heard, str) else getattr(heard, "text", None)
            if not isinstance(text, str) or (isinstance(heard, str) and text.lstrip().startswith("<")):
                raise UnusableAnswerError(
                    f"it answered with no transcription: {heard}",
                    again=False,
                    remedy="see that stt.base_url leads to the API, up to and with /v1",
                )
            return Transcription(text=text)

        return await answered(self._access, self._tell, attempt)

    async def _tell(self, notice: Notice) -> None:
        await self.push_frame(RTVIServerMessageFrame(data=notice.to_json()))


class HostedTTSService(OpenAITTSService):
    """Synthesises speech at an endpoint, in any voice that it has; pipecat's own knows OpenAI's only."""

    def __init__(self, hosted: OpenAiTts, **options: Any) -> None:
        self._hosted = hosted
        self._access = speech_access(hosted)
        settings = self.Settings(
            model=hosted.model, voice=hosted.voice, instructions=hosted.instructions, speed=hosted.speed
        )
        super().__init__(api_key=self._access.api_key, settings=settings, **options)
        self._client = client_for(self._access)

    async def cleanup(self) -> None:
        """Release what the service holds."""
        await super().cleanup()  # type: ignore[no-untyped-call]
        await self._client.close()

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame, None]:
        """Yield audio frames of ``text``."""
        rate = self._hosted.sample_rate
        try:
            await self.start_tts_usage_metrics(text)
            frames = self._stream_audio_frames_from_iterator(
                self._sound(text),
                # Some servers send a WAV file whatever they are asked for.
                strip_wav_header=True,
                in_sample_rate=None if rate == self.sample_rate else rate,
                context_id=context_id,
            )
            async for frame in frames:
                await self.stop_ttfb_metrics()
                yield frame
        except EndpointFailedError as exc:
            yield ErrorFrame(error=str(exc))
        finally:
            await self.stop_ttfb_metrics()

    async def _sound(self, text: str) -> AsyncIterator[bytes]:
        """Yield ``text`` as int16 little-endian mono; what was said of a broken answer stands.

        Raises:
            EndpointFailedError: if nothing of it can be had.
        """
        attempts = Attempts(self._access, self._tell)
        while True:
            begun = False
            try:
                async with aclosing(self._attempt(text, attempts)) as chunks:
                    async for chunk in chunks:
                        begun = True
                        yield chunk
                if not begun:
                    raise UnusableAnswerError("it answered with no sound", again=True)
            except FAILURES as exc:
                if not begun:
                    await attempts.failed(exc)
                    continue
                broken = failure_of(exc, self._access).text
                await attempts.note("cut", f"{self._access.name} {broken}, in the middle of {text!r}")
            else:
                await attempts.succeeded()
            return

    async def _attempt(self, text: str, attempts: Attempts) -> AsyncGenerator[bytes]:
        asked = self._client.audio.speech.with_streaming_response.create(**self._request(text))
        async with AsyncExitStack() as stack:
            response = await attempts.within(stack.enter_async_context(asked))
            kind = response.headers.get("content-type", "").casefold()
            if kind.startswith(_NO_SOUND):
                answer = (await attempts.within(response.read())).decode("utf-8", "replace")
                raise UnusableAnswerError(
                    f"it answered with {kind}, which is no sound: {answer}",
                    again=False,
                    remedy="see that tts.base_url leads to the API, up to and with /v1",
                )
            coming = aiter(response.iter_bytes(self.chunk_size))
            while (chunk := await attempts.within(anext(coming, None))) is not None:
                yield chunk

    def _request(self, text: str) -> dict[str, Any]:
        hosted = self._hosted
        fields = {"instructions": hosted.instructions, "speed": hosted.speed}
        return {
            "input": text,
            "model": hosted.model,
            "voice": hosted.voice,
            "response_format": "pcm",
            **{name: value for name, value in fields.items() if value is not None},
        }

    async def _tell(self, notice: Notice) -> None:
        await self.push_frame(RTVIServerMessageFrame(data=notice.to_json()))
