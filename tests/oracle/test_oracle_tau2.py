"""Gold actions of tau2 done by the benchmark's own tools and by ours: results and end states compared.

``tox -e oracle`` installs the benchmark; elsewhere this is skipped. Differences that are meant are taken out
in one place: ``settled`` and what follows it.
"""

from __future__ import annotations

import importlib
import json
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_voiceeval import load_db_artifact
from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.tools import action_name, build_tools
from pytest_voiceeval.tools.checked import is_error

SHARED = Path(__file__).parents[3] / "shared" / "data"
DOMAINS = ("airline", "retail")
OWN_ITEM_CHANGE = "modify_pending_order_items"
"""The benchmark gives every changed item the last variant, and rounds nothing; here each gets its own."""


def original(module: str) -> ModuleType:
    """Return a module of the benchmark; the test is skipped where it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(f"tau2.{module}")
        except ImportError as exc:
            pytest.skip(f"the benchmark's own code is not at hand: {exc}")


@pytest.fixture(params=["wheel", "shared"])
def data_root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a data root: one with the tasks of the installed benchmark, or the one beside this project."""
    source = Path(original("utils.utils").DATA_DIR) / "tau2" / "domains"
    root = SHARED
    if request.param == "wheel":
        root = tmp_path
        for domain in DOMAINS:
            shutil.copytree(source / domain, root / f"tau2_{domain}")
    elif not root.is_dir():
        pytest.skip(f"{root} is absent")
    monkeypatch.setenv("EVAL_DATA_ROOT", str(root))
    return root


def load(file: str) -> ModuleType:
    return builtin_pack().load_file(builtin_pack().root / file)


Rows = dict[tuple[str, str], Any]
"""Rows of a database by table and key."""


class Ours:
    """Our tools on a world of their own."""

    def __init__(self, domain: str) -> None:
        self._seed, self._db = (load_db_artifact(f"tau2_{domain}/db.json") for _ in range(2))
        names = [tool.__name__ for tool in load(f"tools/tau2_{domain}.py").TOOLS]
        built = build_tools(names, f"tau2_{domain}", {"db": self._db})
        self._tools = {action_name(name): tool for name, tool in built.items()}

    def use(self, action: str, arguments: dict[str, Any]) -> tuple[bool, Any]:
        """Return whether a call is refused, and its result without the envelope that the benchmark lacks."""
        result = self._tools[action].invoke(**arguments)
        if isinstance(result, dict) and result.get("status") == "success" and len(result) == 2:
            result = next(value for key, value in result.items() if key != "status")
        return is_error(result), settled(result)

    def changed(self) -> Rows:
        """Return the rows that are not as they were."""
        return {
            (table, key): settled(row)
            for table, rows in self._db.items()
            for key, row in rows.items()
            if row != self._seed[table].get(key)
        }


class Theirs:
    """The benchmark's tools on a world of their own."""

    def __init__(self, domain: str) -> None:
        self.tools = original(f"domains.{domain}.environment").get_environment().tools
        self._seed = self.tools.db.model_copy(deep=True)

    def use(self, action: str, arguments: dict[str, Any]) -> tuple[bool, Any]:
        """Return whether a call raises, and its result as JSON."""
        try:
            result = self.tools.use_tool(action, **arguments)
        except Exception:  # it is how the benchmark refuses
            return True, None
        return False, settled(json.loads(json.dumps(result, default=dumped)))

    def changed(self) -> Rows:
        """Return the rows that are not as they were, and bring them back."""
        found = {}
        for table in type(self._seed).model_fields:
            before, rows = getattr(self._seed, table), getattr(self.tools.db, table)
            for key in [key for key in rows if rows[key] != before.get(key)]:
                found[table, key] = settled(dumped(rows[key]))
                if key in before:
                    rows[key] = before[key].model_copy(deep=True)
                else:
                    del rows[key]
        return found


def dumped(value: Any) -> Any:
    return value.model_dump(mode="json")


def settled(value: Any) -> Any:
    """Return a value without keys that are null, which the benchmark writes out, and amounts in cents."""
    if isinstance(value, dict):
        return {key: settled(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [settled(part) for part in value]
    return round(value, 2) if isinstance(value, float) else value


def comparable(rows: Rows, apart: set[str]) -> Rows:
    """Return rows without the orders that are ``apart``, and then without balances, which they move."""
    kept = {place: row for place, row in rows.items() if place[1] not in apart}
    for (table, _), row in kept.items():
        if apart and table == "users":
            for method in row["payment_methods"].values():
                method.pop("balance", None)
    return kept


def tasks(domain: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for task in load("scenarios/_tau2_tasks.py").read_tasks(f"tau2_{domain}"):
        yield task.id, list(task.actions)


def changed_orders(actions: list[dict[str, Any]]) -> set[str]:
    """Return the orders of which several items are changed at once."""
    several = [a["arguments"] for a in actions if a["name"] == OWN_ITEM_CHANGE]
    return {arguments["order_id"] for arguments in several if len(arguments["item_ids"]) > 1}


@pytest.mark.parametrize(("domain", "number"), [("airline", 50), ("retail", 114)])
def test_gold_actions_come_out_as_the_benchmarks_own_tools_have_them(
    data_root: Path, domain: str, number: int
) -> None:
    found = list(tasks(domain))
    assert len(found) == number
    theirs = Theirs(domain)
    for task_id, actions in found:
        ours = Ours(domain)
        apart = changed_orders(actions)
        for action in actions:
            mine, its = (one.use(action["name"], dict(action["arguments"])) for one in (ours, theirs))
            if not theirs.tools.has_tool(action["name"]):
                continue  # an older state of the benchmark; the tool only looks something up
            assert mine[0] == its[0], (task_id, action)
            if not mine[0] and action["arguments"].get("order_id") not in apart:
                assert mine[1] == its[1], (task_id, action)
        assert comparable(ours.changed(), apart) == comparable(theirs.changed(), apart), task_id
