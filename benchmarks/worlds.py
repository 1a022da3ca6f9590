"""Worlds over one database: loading, hash and diff of 7 MB, and what a hundred of them cost.

Run by ``tox -e bench``. The database is made up, and as large as an airline's: orders of customers, and
things on sale with a price for each day. A visit looks at all things on sale, and changes two records.
"""

from __future__ import annotations

import copy
import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_voiceeval.world.artifacts import load_db_artifact
from pytest_voiceeval.world.diff import diff_by_path
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.overlay import plain_copy

WORLDS = 100
DAYS = [f"2024-05-{day:02}" for day in range(1, 31)]


def database(chance: random.Random) -> dict[str, Any]:
    """Return a database of about 7 MB as indented JSON."""

    def prices() -> dict[str, int]:
        return {kind: chance.randrange(50, 900) for kind in ("basic", "middle", "best")}

    things = {
        f"T{n:03}": {
            "id": f"T{n:03}",
            "from": chance.choice("ABCDEFGH"),
            "days": {day: {"status": "open", "left": prices(), "prices": prices()} for day in DAYS},
        }
        for n in range(400)
    }
    orders = {
        f"O{n:05}": {
            "id": f"O{n:05}",
            "customer": f"c{n % 500}",
            "items": [{"id": f"T{chance.randrange(400):03}", "day": chance.choice(DAYS), "price": 100.0}] * 2,
            "people": [{"first": "Ann", "last": "Lee", "born": "1990-01-01"}] * 2,
            "payments": [{"method": f"card_{n}", "amount": 200}],
            "status": None,
        }
        for n in range(6000)
    }
    return {
        "things": things,
        "orders": orders,
        "customers": {f"c{n}": {"name": f"C {n}"} for n in range(500)},
    }


def visit(db: dict[str, Any], n: int) -> None:
    """Search the things on sale, buy one, cancel an order."""
    day = DAYS[n % len(DAYS)]
    found = [
        t
        for t in db["things"].values()
        if t["from"] == "A" and t["days"].get(day, {}).get("status") == "open"
    ]
    found[0]["days"][day]["left"]["basic"] -= 1
    db["orders"][f"O{n:05}"]["status"] = "cancelled"


def resident_bytes() -> int:
    """Return the memory that this process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def timed(label: str, act: Callable[[], Any]) -> Any:
    """Return what ``act`` returns, and print how long it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    value = act()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{label:52} {cpu * 1000:8.1f} ms CPU {wall * 1000:8.1f} ms wall")
    return value


def visited(seed: dict[str, Any], n: int) -> dict[str, Any]:
    """Return a copy of ``seed`` after a visit, hashed."""
    world = copy.deepcopy(seed)
    visit(world, n)
    get_dict_hash(world)
    return world


def main() -> None:
    """Print the figures."""
    plain = database(random.Random(1))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVAL_DATA_ROOT"] = folder
        text = json.dumps(plain, indent=2)
        (Path(folder) / "db.json").write_text(text, encoding="utf-8")
        print(
            f"database of {len(text) / 1e6:.1f} MB in {len(plain['orders']) + len(plain['things'])} records"
        )
        before = resident_bytes()
        seed = timed("load it", lambda: load_db_artifact("db"))
        timed("hash it: all of it is written", lambda: get_dict_hash(seed))
        timed("hash it again", lambda: get_dict_hash(seed))
        timed("hash the same as a plain dict", lambda: get_dict_hash(plain))
        world = timed("deep copy, search, two changes, hash", lambda: visited(seed, 0))
        timed("the same once more", lambda: visited(seed, 0))
        timed("hash after no more changes", lambda: get_dict_hash(world))
        lines = timed("diff by path against the seed", lambda: diff_by_path(seed, world))
        timed("the same of plain dicts", lambda: diff_by_path(plain, plain_copy(world)))
        worlds = timed(f"{WORLDS} such worlds, all kept", lambda: [visited(seed, n) for n in range(WORLDS)])
        print(f"memory of all that: {(resident_bytes() - before) / 1e6:.0f} MB")
    assert len(lines) == 2, lines
    assert len({get_dict_hash(world) for world in worlds}) == WORLDS


if __name__ == "__main__":
    main()
