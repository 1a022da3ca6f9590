"""Has pipecat read the call's clock: its modules get a ``time`` that asks the running loop.

pipecat reads the wall clock as attributes of the module ``time`` (pacing, voice activity, metrics), in
two dataclass fields that captured ``time.time``, and once through ``datetime``. Each of these is replaced
by a reading of the running loop, if that is a warped one; anywhere else they read the real clock, so
that the replacements may stay for the life of the process.
"""

from __future__ import annotations

import asyncio
import datetime
import sys
import time
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import CellType, ModuleType
from typing import Any

from pytest_voiceeval.bridge.warp import WarpLoop

PACKAGE = "pipecat"

FRAMES_WITH_STAMPS = ("VADUserStartedSpeakingFrame", "VADUserStoppedSpeakingFrame")
"""Dataclasses in ``pipecat.frames.frames`` with a field whose default factory is ``time.time``."""


def install() -> None:
    """Put the call's clock into every module of pipecat, loaded or still to come; may be called again."""
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and _is_pipecats(module.__name__):
            _take_in(module)
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def _is_pipecats(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] == PACKAGE


def _take_in(module: ModuleType) -> None:
    """Put the call's clock into one module."""
    if vars(module).get("time") is time:
        module.time = _TIME  # type: ignore[attr-defined]
    if module.__name__ == "pipecat.utils.time":
        module.datetime = _DATETIME  # type: ignore[attr-defined]
    if module.__name__ == "pipecat.frames.frames":
        for frame in FRAMES_WITH_STAMPS:
            _replace_captured(getattr(module, frame).__init__)


class _Finder(MetaPathFinder):
    """Finds modules of pipecat as Python does, and takes each in when it has been executed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _is_pipecats(fullname):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_take_in(module: ModuleType) -> None:
            execute(module)
            _take_in(module)

        spec.loader.exec_module = execute_and_take_in  # type: ignore[method-assign]  # of this one loader
        return spec


def _replace_captured(function: Any) -> None:
    """Put our ``time`` where a function's closure holds the real one."""
    for cell in function.__closure__ or ():
        if isinstance(cell, CellType) and cell.cell_contents is time.time:
            cell.cell_contents = _TIME.time


def _warped() -> WarpLoop | None:
    loop = asyncio._get_running_loop()
    return loop if isinstance(loop, WarpLoop) else None


class _CallTime(ModuleType):
    """The module ``time``, but for its clocks inside a warped call."""

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def time(self) -> float:
        loop = _warped()
        return time.time() if loop is None else loop.epoch + loop.time()

    def time_ns(self) -> int:
        loop = _warped()
        return time.time_ns() if loop is None else round((loop.epoch + loop.time()) * 1e9)

    def monotonic(self) -> float:
        loop = _warped()
        return time.monotonic() if loop is None else loop.time()

    def monotonic_ns(self) -> int:
        loop = _warped()
        return time.monotonic_ns() if loop is None else round(loop.time() * 1e9)

    def perf_counter(self) -> float:
        loop = _warped()
        return time.perf_counter() if loop is None else loop.time()

    def perf_counter_ns(self) -> int:
        loop = _warped()
        return time.perf_counter_ns() if loop is None else round(loop.time() * 1e9)


class _CallDateTime(datetime.datetime):
    """``datetime.datetime``, whose ``now`` is that of the call."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:  # type: ignore[override]
        loop = _warped()
        if loop is None:
            return datetime.datetime.now(tz)
        return datetime.datetime.fromtimestamp(loop.epoch + loop.time(), tz)


class _CallDatetimeModule(ModuleType):
    """The module ``datetime`` with the call's ``datetime`` in it."""

    datetime = _CallDateTime

    def __getattr__(self, name: str) -> Any:
        return getattr(datetime, name)


_TIME = _CallTime("time")
_DATETIME = _CallDatetimeModule("datetime")
_FINDER = _Finder()
