"""Whose call may be held before pytest comes to the item: those before which nothing else is to happen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_voiceeval.plugin.items import VoiceItem
from pytest_voiceeval.plugin.resuming import earlier_key

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDE = ("voice_settings", "voice_user", "voice_agent", "voice_judge")
"""Fixtures of a whole session, whose values all calls have."""

NARROW = ("voice_scenario", "voice_folder", "_voice_can_be_scored", "voice_conversation", "voice_metrics")
"""Fixtures of one item, which do what they do whenever they are asked."""

Live = Mapping["pytest.FixtureDef[Any]", object]
"""The fixtures that are set up, and their values."""


class NotAhead(Exception):  # noqa: N818 - an answer, not an error
    """A call is to be held when pytest comes to its item; the text says why, or is empty if none may be."""


def fixtures_of(item: pytest.Item) -> Mapping[str, Sequence[pytest.FixtureDef[Any]]]:
    """Return the fixtures that ``item`` asks for by name, each with what it overrides before it.

    Raises:
        NotAhead: if pytest does not tell. It has no public way to, before the item is set up.
    """
    found: object = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", None)
    if not isinstance(found, Mapping):
        raise NotAhead("pytest does not tell which fixtures it has")
    return found


def wide_values(item: pytest.Item, live: Live) -> dict[str, Any]:
    """Return the values of the ``WIDE`` fixtures, if ``item`` may have its call held ahead of its turn.

    Nothing of its own may come before the call: no mark that may skip it, no fixture but those of the
    session that are set up, none of ours that is overridden for single items, no ``pytest_runtest_setup`` of
    a conftest.py, no result from before.

    Raises:
        NotAhead: if it may not.
    """
    if not isinstance(item, VoiceItem) or _is_perhaps_skipped(item) or _is_restored(item):
        raise NotAhead
    for hook in item.ihook.pytest_runtest_setup.get_hookimpls():
        if Path(getattr(hook.plugin, "__file__", "") or "").name == "conftest.py":
            raise NotAhead("pytest_runtest_setup of a conftest.py comes before the call")
    values: dict[str, Any] = {}
    for name, definitions in fixtures_of(item).items():
        used = definitions[-1]
        if name in NARROW:
            if len(definitions) > 1:
                raise NotAhead(f"the fixture {name} is overridden")
        elif used.scope != "session" or used.params:
            raise NotAhead(f"the fixture {name} (scope {used.scope}) comes before the call")
        elif used not in live:
            raise NotAhead(f"the fixture {name} is not set up yet")
        elif name in WIDE:
            values[name] = live[used]
    return values


def _is_restored(item: VoiceItem) -> bool:
    earlier = item.config.stash.get(earlier_key, None)
    return earlier is not None and earlier.completed(item.name) is not None


def _is_perhaps_skipped(item: pytest.Item) -> bool:
    """Return whether a mark skips it, or may: conditions that are texts are pytest's to evaluate."""
    return (
        item.get_closest_marker("skip") is not None
        or any(_may_hold(mark) for mark in item.iter_markers("skipif"))
        or any(mark.kwargs.get("run") is False for mark in item.iter_markers("xfail"))
    )


def _may_hold(mark: pytest.Mark) -> bool:
    conditions = [mark.kwargs["condition"]] if "condition" in mark.kwargs else list(mark.args)
    return any(condition is not False for condition in conditions)


def upcoming(item: pytest.Item) -> list[pytest.Item]:
    """Return the items that pytest runs after ``item``, as far as this process knows, in order.

    A worker of xdist knows those in its queue; one that was taken from it is no more among them.
    """
    items = item.session.items
    if not hasattr(item.config, "workerinput"):
        index = next((at for at, each in enumerate(items) if each is item), len(items))
        return items[index + 1 :]
    plugins = item.config.pluginmanager.get_plugins()
    worker: Any = next((plugin for plugin in plugins if hasattr(plugin, "torun")), None)
    if worker is None:
        return []
    following = [worker.nextitem_index]
    with worker.torun.lock() as queue:
        following += queue
    return [items[at] for at in following if isinstance(at, int)]
