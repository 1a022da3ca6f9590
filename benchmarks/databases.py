"""Hash and diff of large databases: a synthetic one of 7 MB, and the airline's where that lies beside.

Run by ``tox -e bench``. CPU time, the best of several runs.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timing import best_cpu_seconds, print_figure

from pytest_voiceeval.world.artifacts import load_db_artifact
from pytest_voiceeval.world.diff import compute_db_diff, diff_by_path
from pytest_voiceeval.world.hashing import get_dict_hash
from pytest_voiceeval.world.roots import ROOT_VARIABLE

MEGABYTES = 7
SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"

World = dict[str, Any]


def synthetic(megabytes: float) -> World:
    """Return a database of about that size as compact JSON: orders with nested items, and customers."""
    dice = random.Random(7)
    db: World = {"orders": {}, "customers": {}}
    size = 0
    while size < megabytes * 1e6:
        number = len(db["orders"])
        customer = f"customer_{number % 5000}"
        order = {
            "order_id": f"#W{number:07}",
            "customer_id": customer,
            "status": dice.choice(["pending", "processed", "delivered", "cancelled"]),
            "total": round(dice.uniform(5, 500), 2),
            "note": dice.choice([None, "none", "Please ring twice — grüß Gott"]),
            "items": [
                {
                    "item_id": str(dice.randrange(10**10)),
                    "price": round(dice.uniform(1, 99), 2),
                    "options": {"size": "L"},
                }
                for _ in range(3)
            ],
        }
        db["orders"][order["order_id"]] = order
        db["customers"].setdefault(customer, {"name": customer, "bookings": []})["bookings"].append(number)
        size += len(json.dumps(order, separators=(",", ":"))) + 8
    return db


def change_order(db: World) -> None:
    """Change one field deep in the synthetic database."""
    next(iter(db["orders"].values()))["items"][1]["price"] = -1.0


def change_reservation(db: World) -> None:
    """Change one field deep in the airline's database."""
    next(iter(db["reservations"].values()))["status"] = "cancelled"


def figures(title: str, path: str, change: Callable[[World], None]) -> None:
    """Print the figures of the database at ``path`` under the data root."""
    print(title, flush=True)

    def load() -> World:
        return load_db_artifact(path)

    def hashed() -> World:
        db = load()
        get_dict_hash(db)
        return db

    def hashed_and_changed() -> World:
        db = hashed()
        change(db)
        return db

    def pair() -> tuple[World, World]:
        return hashed(), hashed_and_changed()

    print_figure("load it the first time", best_cpu_seconds(load, repeats=1))
    print_figure("hash it the first time", best_cpu_seconds(get_dict_hash, prepare=load, repeats=1))
    print_figure("load it once more", best_cpu_seconds(load))
    print_figure("hash of one loaded once more", best_cpu_seconds(get_dict_hash, prepare=load))
    print_figure("hash again, nothing changed", best_cpu_seconds(get_dict_hash, prepare=hashed))
    print_figure("hash again, one field changed", best_cpu_seconds(get_dict_hash, prepare=hashed_and_changed))
    print_figure(
        "diff by path, one field changed", best_cpu_seconds(lambda p: diff_by_path(*p), prepare=pair)
    )
    print_figure(
        "diff as a tree, one field changed", best_cpu_seconds(lambda p: compute_db_diff(*p), prepare=pair)
    )


def main() -> None:
    """Print the figures of all databases."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[ROOT_VARIABLE] = folder
        text = json.dumps(synthetic(MEGABYTES), ensure_ascii=False)
        (Path(folder) / "synthetic.json").write_text(text, encoding="utf-8")
        figures(f"synthetic database, {len(text) / 1e6:.1f} MB", "synthetic", change_order)
    if (SHARED_DATA / "tau2_airline" / "db").is_dir():
        os.environ[ROOT_VARIABLE] = str(SHARED_DATA)
        figures("airline database", "tau2_airline/db", change_reservation)


if __name__ == "__main__":
    main()
