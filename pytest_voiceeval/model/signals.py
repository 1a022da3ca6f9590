"""The six success signals."""

from __future__ import annotations

from enum import StrEnum


class SuccessSignal(StrEnum):
    """What a scenario may be judged by; a value is the signal's key in ``metrics.json``."""

    ACTION_MATCH = "is_action_match"
    DB_STATE_MATCH = "db_state_match"
    DB_STATE_ASSERTION = "db_state_assertion"
    NL_ASSERTION = "nl_assertion"
    JUDGE_PASSED = "judge_passed"
    CLEAN_EXIT = "clean_exit"
