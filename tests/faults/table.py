"""The table of faults on the wire: each fault, what becomes of the call, by when, and the words that tell it.

A fault of the agent ends in a stop reason, and so in a verdict; one of anybody else is an error. What needs a
real socket, a pipeline or pytest has a test of its own, which ``ELSEWHERE`` names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from faulty_bots import (
    Blocking,
    Dumb,
    Echoing,
    Flapping,
    FlappingForEver,
    Flooding,
    Garbling,
    Hallucinating,
    HangingUp,
    Infinite,
    Late,
    LateWithEvidence,
    LittleLate,
    Odd,
    RateChanging,
    Soundless,
    Unheard,
    Unreading,
    WrongId,
)
from scripted_calls import agent_bot, user_bot

from pytest_voiceeval.errors import BotError, BotLostError, BotRefusedError, BotUnreachableError
from pytest_voiceeval.model.stop_reason import StopReason
from pytest_voiceeval.model.turns import AGENT, USER
from pytest_voiceeval.testing import FakeBot, Utterance, exit_message

WELCOME = Utterance("Welcome.", 1.0, 300)
BYE = Utterance("Good bye.", 0.8, 350, late_sends=(exit_message(),))
LINES = (WELCOME, BYE)
QUESTION = Utterance("And then?", 1.0, 500)
ENVIRONMENT = "whose fault: the environment's; no verdict on the agent"
SIMULATOR = "whose fault: the simulated user's; no verdict on the agent"
BEFORE = "where: before the call began"
EVIDENCE_SECONDS = 35.0
"""What two requests for evidence may take that come to nothing, and a reconnection."""


@dataclass(frozen=True)
class Fault:
    """One row.

    Attributes:
        what: goes wrong.
        outcome: the stop reason, for the agent's faults and for those that do no harm; else the error.
        words: stand in what is told of it: the message, the ending, the bridge's log, or the evidence's gaps.
        within: seconds of the call's clock that it may take, to the end of all.
        agent, user: makes the bot.
        settings: of the call.
    """

    what: str
    outcome: StopReason | type[BotError]
    words: tuple[str, ...]
    within: float
    agent: Callable[[], FakeBot] = agent_bot
    user: Callable[[], FakeBot] = user_bot
    settings: Mapping[str, Any] = field(default_factory=dict)


def agent(kind: type[FakeBot], *lines: Utterance, **options: Any) -> Callable[[], FakeBot]:
    return lambda: kind(AGENT, lines or LINES, **options)


def user(kind: type[FakeBot], *lines: Utterance, **options: Any) -> Callable[[], FakeBot]:
    return lambda: kind(USER, lines or (Utterance("Hello there.", 1.2, 500),), **options)


def refusing(request: str) -> Callable[[], FakeBot]:
    return agent(FakeBot, answers={request: ValueError(f"unknown message type: {request}")})


AGENTS = (
    Fault(
        "never says bot-ready",
        BotUnreachableError,
        ("agent bot at mem://agent", "never said bot-ready", "within 5 s", BEFORE, ENVIRONMENT),
        6,
        agent(Dumb),
    ),
    *(
        Fault(
            f"refuses {request}",
            BotRefusedError,
            ("agent bot at mem://agent", f"unknown message type: {request}", BEFORE, ENVIRONMENT),
            1,
            refusing(request),
        )
        for request in ("reset", "update_system_prompt", "apply_initialization")
    ),
    *(
        Fault(
            f"refuses {request}",
            StopReason.EXIT,
            (f"[AGENT] evidence is missing: answered {request} with: unknown message type: {request}",),
            8,
            refusing(request),
        )
        for request in ("get_context_history", "get_scenario_summary")
    ),
    Fault(
        "answers a request of the set-up late",
        BotRefusedError,
        ("agent bot at mem://agent", "no answer to reset within 15 s", BEFORE, ENVIRONMENT),
        16,
        agent(Late),
    ),
    Fault("answers late, and within the limit", StopReason.EXIT, (), 20, agent(LittleLate)),
    Fault(
        "answers a request for evidence late",
        StopReason.EXIT,
        ("[AGENT] evidence is missing: no answer to get_scenario_summary within 15 s",),
        EVIDENCE_SECONDS,
        agent(LateWithEvidence),
    ),
    Fault("answers twice", StopReason.EXIT, ("[AGENT] reply to nothing that waits",), 8, agent(Echoing)),
    Fault(
        "answers under a wrong id",
        BotRefusedError,
        ("no answer to reset within 15 s; replies came under other ids than the request's: 'mine_1'",),
        16,
        agent(WrongId),
    ),
    Fault(
        "goes mute after turn 1",
        StopReason.INACTIVITY,
        (
            "nobody made a sound for 20 s: the agent did not answer the user",
            'after turn 2, the user\'s: "Hello there."',
        ),
        30,
        agent(FakeBot, WELCOME),
        settings={"inactivity_timeout": 20.0},
    ),
    Fault(
        "speaks without end",
        StopReason.TIMEOUT,
        ("the limit of 10 s was reached, the agent still speaking", "in turn 1, the agent's"),
        12,
        agent(FakeBot, Utterance("And so on.", 60.0)),
        settings={"max_duration": 10.0},
    ),
    Fault("sends speaking events that flap", StopReason.EXIT, (), 10, agent(Flapping)),
    Fault(
        "flaps, and says nothing",
        StopReason.TIMEOUT,
        ("the limit of 60 s was reached", "before the first turn", "type=bot-st"),
        62,
        agent(FlappingForEver, WELCOME),
    ),
    Fault(
        "hangs up in mid-word",
        StopReason.AGENT_HANGUP,
        ("the agent went away: closed with code 1000", "in turn 1, the agent's"),
        4,
        agent(HangingUp, Utterance("A long story.", 9.0)),
    ),
    Fault(
        "sends text where bytes belong, truncated protobuf, broken messages, unknown frames",
        StopReason.EXIT,
        ("[AGENT] frame skipped: a text message where only binary ones belong", "type=no-such-event"),
        8,
        agent(Garbling),
    ),
    Fault("sends numbers that JSON does not have", StopReason.EXIT, (), 8, agent(Infinite)),
    Fault("sends audio at another rate each time", StopReason.EXIT, (), 8, agent(RateChanging)),
    Fault(
        "sends odd byte counts and impossible rates",
        StopReason.EXIT,
        ("3 bytes is no whole number of samples", "an impossible sample rate of 0 Hz"),
        8,
        agent(Odd),
    ),
    Fault(
        "sends no audio at all",
        StopReason.INACTIVITY,
        (
            "nobody made a sound for 20 s: the user did not answer the agent",
            'turn 1, the agent\'s: "Welcome."',
        ),
        25,
        agent(Soundless),
        settings={"inactivity_timeout": 20.0},
    ),
    Fault(
        "sends more sound at once than anybody can hear, and a thousand broken frames",
        StopReason.TIMEOUT,
        (
            "the limit of 10 s was reached",
            ", the agent's",
            "more than 600 s of its sound wait to be played; what comes is dropped",
            "frame skipped: further ones are counted, and not told here",
        ),
        12,
        agent(Flooding),
        settings={"max_duration": 10.0},
    ),
    Fault(
        "does nothing any more",
        StopReason.INACTIVITY,
        (
            "nobody made a sound for 20 s: the agent did not answer the user",
            "no answer to get_context_history",
        ),
        30 + 2 * EVIDENCE_SECONDS,
        agent(Unreading),
        settings={"inactivity_timeout": 20.0},
    ),
    Fault("blocks its loop for 45 s", StopReason.EXIT, (), 55, agent(Blocking)),
)

SIMULATORS = (
    Fault(
        "says goodbye without ending",
        StopReason.INACTIVITY,
        ("nobody made a sound for 20 s: the agent did not answer the user", '"Goodbye."'),
        30,
        agent(FakeBot, WELCOME),
        user(FakeBot, Utterance("Goodbye.", 1.0, 500)),
        settings={"inactivity_timeout": 20.0},
    ),
    Fault(
        "says goodbye for ever, as does the agent",
        StopReason.TIMEOUT,
        ("the limit of 60 s was reached",),
        62,
        agent(FakeBot, *(Utterance("Bye.", 0.5, 300) for _ in range(100))),
        user(FakeBot, *(Utterance("Goodbye.", 0.5, 500) for _ in range(100))),
    ),
    Fault(
        "hangs up in mid-word",
        BotLostError,
        ("user bot at mem://user went away: closed with code 1000", "in turn 2, the user's", SIMULATOR),
        5,
        user=user(HangingUp, Utterance("A long story.", 9.0)),
    ),
    Fault(
        "never says bot-ready",
        BotUnreachableError,
        ("user bot at mem://user", "never said bot-ready", BEFORE, ENVIRONMENT),
        6,
        user=user(Dumb),
    ),
    Fault("tells empty and blank transcripts", StopReason.EXIT, (), 10, user=user(Unheard)),
    Fault("hears words in silence", StopReason.EXIT, (), 10, user=user(Hallucinating)),
    Fault(
        "hears words in silence, and the agent is mute",
        StopReason.INACTIVITY,
        (
            "nobody made a sound for 20 s",
            "STT final] 'Thank you.'",
            "[USER] heard words where nothing was said",
        ),
        50,
        agent(FakeBot, WELCOME),
        user(Hallucinating),
        settings={"inactivity_timeout": 20.0},
    ),
    Fault("blocks its loop for 45 s", StopReason.EXIT, (), 55, user=user(Blocking)),
)

SOCKETS, TOOLS = "tests/faults/test_faults_sockets.py", "tests/bots/test_bots_tool_faults.py"
SIMULATOR_TESTS, PLUGIN = "tests/faults/test_faults_simulator.py", "tests/plugin/test_plugin_faults.py"
GOES_AWAY = f"{SOCKETS}::test_an_agent_that_goes_away_is_told_how_and_its_evidence_is_kept"

ELSEWHERE: Mapping[str, str] = {
    "the agent hangs up in mid-word with 1000, over a socket": GOES_AWAY,
    "the agent drops TCP in mid-word": GOES_AWAY,
    "the agent sends a frame of 20 MiB": GOES_AWAY,
    "the user drops TCP in mid-word": f"{SOCKETS}::test_a_user_that_drops_its_connection_is_an_error",
    "a bot does not answer our close": f"{SOCKETS}::test_a_bot_that_never_answers_our_close_costs_a_second",
    "the agent stops reading its socket": (
        f"{SOCKETS}::test_a_bot_that_stops_reading_is_told_as_soon_as_it_cannot_be_sent_any_more"
    ),
    "a bot breaks the WebSocket protocol": (
        "tests/fuzz/test_fuzz_websocket.py::test_a_frame_that_breaks_the_protocol_is_told_as_that"
    ),
    "a bot does not take a world that changes": (
        "tests/bridge/test_bridge_sync.py::test_a_delta_that_a_bot_does_not_take_is_a_fault"
    ),
    "the user repeats the agent": (
        f"{SIMULATOR_TESTS}::test_a_user_that_repeats_a_failing_agent_is_an_error_with_its_turn"
    ),
    "a recogniser hears words in silence": (
        f"{SIMULATOR_TESTS}::test_words_that_a_side_heard_in_silence_are_counted"
    ),
    "empty and blank transcripts": (
        f"{SIMULATOR_TESTS}::test_blank_transcripts_are_no_words_and_make_no_turn"
    ),
    "the call ends before a running tool returns": (
        f"{TOOLS}::test_what_a_tool_records_after_the_call_is_over_is_in_the_evidence"
    ),
    "a tool raises": f"{TOOLS}::test_a_tool_that_raises_answers_with_its_error",
    "a tool leaves the process": f"{TOOLS}::test_a_tool_that_wants_to_leave_the_process_does_not",
    "a tool hangs": f"{TOOLS}::test_a_tool_that_hangs_is_given_up",
    "a tool delivers twice": f"{TOOLS}::test_a_tool_that_delivers_twice_is_heard_once",
    "a tool returns no JSON": f"{TOOLS}::test_a_tool_that_returns_no_json_answers_all_the_same",
    "a barge-in cancels a tool": f"{TOOLS}::test_a_tool_that_a_barge_in_cancels_records_nothing_and_is_told",
    "what pytest makes of them": (
        f"{PLUGIN}::test_faults_are_told_as_what_they_are_and_the_other_results_are_kept"
    ),
}
"""Faults that are held elsewhere, and the tests that do."""
