"""Action match: comparing what was recorded with a reference, from a single order to hundreds of actions.

Run by ``tox -e bench``. CPU time of one comparison, the best of several runs.
"""

from __future__ import annotations

from typing import Any

from timing import best_cpu_seconds, print_figure, repeated

from pytest_voiceeval.scoring.action_diff import explain_mismatch
from pytest_voiceeval.scoring.match import MatchRules, check_if_task_success

RULES = MatchRules(ignore_capitalization=True, ignore_punctuation=True)
ORDER = {
    "items": [{"name": f"Dish {number}", "unit_price": "$9.99", "quantity": "1"} for number in range(3)],
    "customer_name": "Charlie",
    "customer_phone": "314-527-8960",
    "total_price": "29.97",
}


def actions(count: int, *, spoilt: bool = False) -> dict[str, Any]:
    """Return so many recorded actions that differ in a late argument; ``spoilt`` ones match none of these."""
    return {
        "actions": [
            {
                "side": "agent",
                "name": "update_reservation",
                "arguments": {
                    "reservation_id": f"R{number % 10}",
                    "passengers": [{"first_name": "Ann", "last_name": "Lee", "dob": "1990-01-01"}] * 3,
                    "payment_id": f"{'x' if spoilt else ''}card_{number}",
                },
                "result": {"status": "success", "price": 100 + number},
            }
            for number in range(count)
        ]
    }


def matched(what: str, reference: Any, prediction: Any, times: int) -> None:
    """Print what a comparison costs that finds a match."""
    assert check_if_task_success(reference, prediction, RULES)
    act = repeated(lambda: check_if_task_success(reference, prediction, RULES), times)
    print_figure(what, best_cpu_seconds(act) / times)


def main() -> None:
    """Print the figures."""
    print("action match", flush=True)
    matched("an order of three items", ORDER, [ORDER], 1000)
    matched("12 actions, in order", actions(12), [actions(12)], 100)
    backwards = {"actions": actions(12)["actions"][::-1]}
    matched("12 actions, recorded backwards", actions(12), [backwards], 100)
    whole = {"actions": actions(300)["actions"][::-1]}
    matched("300 actions, recorded backwards", actions(300), [whole], 1)
    spoilt = [actions(300, spoilt=True)]
    fails = best_cpu_seconds(lambda: check_if_task_success(actions(300), spoilt, RULES), repeats=3)
    print_figure("300 actions, none of which matches", fails)
    explain = best_cpu_seconds(lambda: explain_mismatch(actions(300), spoilt, RULES), repeats=3)
    print_figure("explanation of that", explain)
    explain = best_cpu_seconds(lambda: explain_mismatch(actions(12), [actions(12, spoilt=True)], RULES))
    print_figure("explanation of 12 actions, none of which matches", explain)


if __name__ == "__main__":
    main()
