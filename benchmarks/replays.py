"""Gold replay of every task of tau2, and the hash of what it leads to, with all scenarios alive.

Run by ``tox -e bench``; prints nothing but a reason where no data root has the tasks.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.packs import builtin_pack
from pytest_voiceeval.scenarios.registry import get_eval_scenario, list_eval_scenarios
from pytest_voiceeval.world.hashing import get_dict_hash

DOMAINS = ("tau2_airline", "tau2_retail", "tau2_telecom")
SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


def replayed(domain: str) -> list[Scenario]:
    """Replay the tasks of ``domain``, print what it cost, and return their scenarios."""
    names = [name for name in list_eval_scenarios() if name.startswith(f"{domain}__")]
    if not names:
        print(f"{domain}: not measured: its data are in no data root")
        return []
    wall, cpu = time.perf_counter(), time.process_time()
    scenarios = [scenario for name in names if (scenario := get_eval_scenario(name)) is not None]
    for scenario in scenarios:
        get_dict_hash(scenario.expected_scenario_db)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{domain}: {len(names)} tasks loaded, replayed and hashed in {wall:.2f} s, {cpu:.2f} CPU s")
    return scenarios


def main() -> None:
    """Replay all domains in turn."""
    if SHARED_DATA.is_dir():
        os.environ.setdefault("EVAL_DATA_ROOT", str(SHARED_DATA))
    builtin_pack().load()
    alive = [scenario for domain in DOMAINS for scenario in replayed(domain)]
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(alive)} scenarios alive, {megabytes:.0f} MB resident at most")


if __name__ == "__main__":
    main()
