"""A double of hosted speech on loopback: Piper and Whisper behind OpenAI's two paths."""

from __future__ import annotations

import io
import wave
from typing import Any

from aiohttp import web
from http_double import Act, HttpDouble

from pytest_voiceeval.bots.profile import Profile
from pytest_voiceeval.bots.profile_local import Timbre
from pytest_voiceeval.bots.recogniser import heard, shared_recogniser
from pytest_voiceeval.bots.speech import shared_voice, spoken


class SpeechDouble(HttpDouble):
    """Hears and speaks as the services of a local profile do; plays ``faults`` first, one for each request.

    Attributes:
        heard: form fields of each request to recognise, and what was recognised.
        spoken: JSON of each request to synthesise.
        asked: how many requests came.
    """

    def __init__(self, local: Profile, *faults: Act, rate_hz: int = 24_000, as_wav: bool = False) -> None:
        self.heard: list[dict[str, Any]] = []
        self.spoken: list[dict[str, Any]] = []
        self.asked = 0
        self._local = local
        self._faults = list(faults)
        self._rate_hz = rate_hz
        self._as_wav = as_wav

    def routes(self) -> dict[str, Act]:
        return {"/v1/audio/transcriptions": self._transcribe, "/v1/audio/speech": self._speak}

    async def _transcribe(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        form = await request.post()
        upload = form["file"]
        assert isinstance(upload, web.FileField)
        content = upload.file.read()
        upload.file.close()
        if self._faults:
            return await self._faults.pop(0)(request)
        with wave.open(io.BytesIO(content)) as sound:
            assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (16_000, 1, 2)
            pcm = sound.readframes(sound.getnframes())
        stt: Any = self._local.stt
        text = heard(shared_recogniser(stt.model_path, stt.device, stt.compute_type), pcm, "en")
        fields = {key: value for key, value in form.items() if key != "file"}
        self.heard.append({**fields, "text": text, "key": request.headers["Authorization"]})
        return web.json_response({"text": text})

    async def _speak(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        asked = await request.json()
        if self._faults:
            return await self._faults.pop(0)(request)
        self.spoken.append(asked)
        tts: Any = self._local.tts
        pcm = b"".join(spoken(asked["input"], shared_voice(tts.voice_path), Timbre(), self._rate_hz))
        if not self._as_wav:
            return web.Response(body=pcm, content_type="audio/pcm")
        file = io.BytesIO()
        with wave.open(file, "wb") as sound:
            sound.setparams((1, 2, self._rate_hz, 0, "NONE", ""))
            sound.writeframes(pcm)
        return web.Response(body=file.getvalue(), content_type="audio/wav")
