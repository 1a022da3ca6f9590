"""Imports the parts of pipecat that bots use, whatever the warning filters say.

On import, pipecat uses what Python, websockets and pipecat itself announce as deprecated. Under a
test run with ``filterwarnings = error``, which is common, the announcements would become errors of
ours. Modules that use pipecat import this one first.
"""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import pipecat.audio.utils
    import pipecat.audio.vad.silero
    import pipecat.pipeline.worker
    import pipecat.services.openai.llm
    import pipecat.services.openai.stt
    import pipecat.services.openai.tts
    import pipecat.services.stt_service
    import pipecat.services.tts_service
    import pipecat.transports.websocket.server  # noqa: F401
