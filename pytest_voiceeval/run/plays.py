"""Plays of a scenario without sound: its gold rehearsal has to pass, and sabotages of it have to fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pytest_voiceeval.errors import VoiceEvalError
from pytest_voiceeval.model.conversation import Conversation
from pytest_voiceeval.model.metrics import Scores, Verdict
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.model.turns import AGENT
from pytest_voiceeval.run.dry import hold_dry
from pytest_voiceeval.run.dry_bot import DryBot
from pytest_voiceeval.run.findings import Finding
from pytest_voiceeval.run.gold import GoldOutcome
from pytest_voiceeval.run.tool_errors import tool_errors
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.rehearsal import REHEARSALS, Rehearsal, Use, sabotage
from pytest_voiceeval.scoring.composite import score
from pytest_voiceeval.scoring.payload import reference_payload
from pytest_voiceeval.world.hashing import get_dict_hash

Told = Callable[[str], Finding]

DO_NOTHING = "do-nothing"
JUDGED = (SuccessSignal.NL_ASSERTION, SuccessSignal.JUDGE_PASSED)


def play_faults(
    scenario: Scenario, gold: GoldOutcome, fault: Callable[[str, str], Finding], note: Told
) -> Iterator[Finding]:
    """Yield what is wrong with how a scenario that can be prepared is passed and failed.

    ``fault`` and ``note`` make the findings.
    """
    plays = _Plays(scenario, gold, fault, note)
    try:
        yield from plays.check()
    except VoiceEvalError as exc:
        yield fault(f"it cannot be played: {exc}", "")
    except Exception as exc:  # a pack's code may raise anything
        yield fault(f"it cannot be played: {type(exc).__name__}: {exc}", "")


class _Plays:
    def __init__(
        self, scenario: Scenario, gold: GoldOutcome, fault: Callable[[str, str], Finding], note: Told
    ) -> None:
        self._scenario = scenario
        self._gold = gold
        self._fault = fault
        self._note = note
        self._applying = [signal for signal in scenario.whitelist if has_criteria(scenario, signal)]
        self._judged = [signal.value for signal in self._applying if signal in JUDGED]

    def check(self) -> Iterator[Finding]:
        """Play the gold rehearsal, a do-nothing agent, and every sabotage that changes something."""
        if self._judged:
            yield self._note(f"a judge decides on {', '.join(self._judged)}: that is not computed here")
        rehearsal = self._scenario.rehearsal
        if rehearsal is None:
            yield self._note("it has no rehearsal, so that nothing here plays it to its end")
            yield from self._idle(None)
            return
        gold = hold_dry(self._scenario)
        yield from self._passed(gold)
        yield from self._idle(rehearsal)
        for variant in REHEARSALS:
            if variant not in ("gold", DO_NOTHING) and sabotage(rehearsal, variant) != rehearsal:
                yield from self._sabotaged(variant, rehearsal, gold)

    def _passed(self, call: Conversation) -> Iterator[Finding]:
        scores = score(self._scenario, call)
        errors = [f"{error['tool']} answered {error['answer']}" for error in tool_errors(call.agent.context)]
        if scores.verdict is Verdict.PASSED or (self._judged and not scores.breakdown.failed):
            if errors and self._scenario.gold_actions is None:  # a benchmark's own actions may be refused
                yield self._fault(
                    f"a tool refuses what its gold rehearsal calls it with: {'; '.join(errors)}",
                    "mend the rehearsal",
                )
            return
        why = [f"{key}: {_explained(scores, key)}" for key in scores.breakdown.failed]
        yield self._fault(
            f"its gold rehearsal does not pass: {'; '.join([*why, *errors]) or 'no signal applies'}",
            "mend the rehearsal, or what the scenario expects",
        )

    def _idle(self, rehearsal: Rehearsal | None) -> Iterator[Finding]:
        """Play an agent that only talks and hangs up."""
        if self._applying in ([], [SuccessSignal.CLEAN_EXIT]):
            return  # nothing can score it, which is told apart
        call = hold_dry(self._scenario, self._doing_nothing(rehearsal))
        if self._judged or score(self._scenario, call).verdict is not Verdict.PASSED:
            return
        if reasons := self._nothing_is_right():
            yield self._note(f"passes by doing nothing, by its own expectation: {'; '.join(reasons)}")
        else:
            yield self._fault(
                "an agent that does nothing and hangs up passes",
                "expect something that holds only after the task is done",
            )

    def _doing_nothing(self, rehearsal: Rehearsal | None) -> Rehearsal:
        idle = sabotage(rehearsal, DO_NOTHING) if rehearsal else Rehearsal((), ())
        ends = [
            name for name, tool in DryBot.of(self._scenario, AGENT).tools.items() if tool.ends_conversation
        ]
        if any(isinstance(line, Use) for line in idle.agent) or not ends:
            return idle
        return Rehearsal(idle.user, (*idle.agent, Use(ends[0])))

    def _nothing_is_right(self) -> list[str]:
        """Return why doing nothing is what each deciding signal expects; empty if one expects something."""
        deciding = [signal for signal in self._applying if signal is not SuccessSignal.CLEAN_EXIT]
        reasons = [self._expects_nothing(signal) for signal in deciding]
        return reasons if all(reasons) else []

    def _expects_nothing(self, signal: SuccessSignal) -> str:
        scenario = self._scenario
        if signal is SuccessSignal.DB_STATE_MATCH:
            same = get_dict_hash(scenario.expected_scenario_db) == self._gold.initialized[AGENT]
            return "the expected database is the initial one" if same else ""
        if signal is SuccessSignal.DB_STATE_ASSERTION:
            all_hold = self._gold.holding_before == len(scenario.db_state_assertions or ())
            return "all DB assertions hold from the start" if all_hold else ""
        reference = scenario.reference_answer
        asks_nothing = isinstance(reference, dict) and reference.get("actions") == []
        return "the reference answer lists no action" if asks_nothing else ""

    def _sabotaged(self, variant: str, rehearsal: Rehearsal, gold: Conversation) -> Iterator[Finding]:
        call = hold_dry(self._scenario, sabotage(rehearsal, variant))
        if self._judged or score(self._scenario, call).verdict is not Verdict.PASSED:
            return
        if self._scored(call) == self._scored(gold) or self._nothing_is_right():
            return  # what was left out or spoilt left no trace that counts, or none is asked for
        what = f"its rehearsal sabotaged by '{variant}' passes, though it ends otherwise"
        if self._scenario.task_id is None:
            yield self._fault(what, "expect what the gold rehearsal leaves behind")
        else:
            yield self._note(f"{what}: so the benchmark's task has it")

    def _scored(self, call: Conversation) -> dict[SuccessSignal, object]:
        """Return what of a call each whitelisted signal is computed from."""
        records = [action.to_json() for action in call.actions]
        evidence: dict[SuccessSignal, object] = {
            SuccessSignal.ACTION_MATCH: (records, call.pushed),
            SuccessSignal.DB_STATE_MATCH: call.agent.db_hash,
            SuccessSignal.DB_STATE_ASSERTION: (call.agent.db_hash, call.user.db_hash),
            SuccessSignal.CLEAN_EXIT: call.stop_reason,
        }
        return {signal: evidence[signal] for signal in self._applying if signal in evidence}


def has_criteria(scenario: Scenario, signal: SuccessSignal) -> bool:
    """Return whether the scenario says what a signal is to be judged by."""
    if signal is SuccessSignal.ACTION_MATCH:
        return reference_payload(scenario) is not None
    if signal is SuccessSignal.DB_STATE_MATCH:
        return scenario.expected_scenario_db is not None
    if signal is SuccessSignal.DB_STATE_ASSERTION:
        return bool(scenario.db_state_assertions)
    return bool(scenario.nl_assertions) if signal is SuccessSignal.NL_ASSERTION else True


def _explained(scores: Scores, key: str) -> str:
    result = scores.result(SuccessSignal(key))
    return result.explanation if result else ""
