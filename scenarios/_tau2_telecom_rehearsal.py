"""Rehearsals of tau2's telecom: the agent asks for each step on the phone, the caller does it and says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_voiceeval import Rehearsal, Say, Use

from ._spoken import utterances
from ._tau2_rehearsal import DONE, GO_ON, GOODBYE, GREETING, HANDOVER, UNDERSTOOD

HANDOVER_TOOL = "transfer_to_human_agents"

REQUESTS = {
    "toggle_airplane_mode": "Please switch the airplane mode of your phone off.",
    "set_network_mode_preference": "Please let your phone prefer the fastest networks again.",
    "disconnect_vpn": "Please disconnect the private network on your phone.",
    "toggle_wifi_calling": "Please switch the wireless calling of your phone off.",
    "reset_apn_settings": "Please reset the access point settings of your phone.",
    "reboot_device": "Please restart your phone and wait until it is on again.",
    "grant_app_permission": "Please open the settings and let your messaging app use the {permission}.",
    "toggle_data": "Please switch the mobile data of your phone on.",
    "toggle_data_saver_mode": "Please switch the data saver of your phone off.",
    "reseat_sim_card": "Please take the card out of your phone and put it in again.",
    "toggle_roaming": "Please switch the data roaming of your phone on.",
    "make_payment": "Please pay the bill that your phone shows to you now.",
}
"""What the agent says to have something done on the phone."""

ANYTHING = "Please open your phone and use this function {function}."
REPORTS = (
    Say("Okay I have done that on my phone."),
    Say("That is done now as you told me."),
    Say("I have done this as well just now."),
)


def rehearse_on_two_sides(reason: str, actions: Sequence[Mapping[str, Any]]) -> Rehearsal:
    """Return the rehearsal of a task whose actions are done by the agent and by the caller, in order.

    Args:
        reason: why the caller calls, as the task tells the caller.
        actions: the task's own actions, each with its ``requestor``.
    """
    spoken = [Say(text) for text in utterances(reason)]
    user: list[Say | Use] = [*spoken]
    agent: list[Say | Use] = [GREETING, *(GO_ON[n % len(GO_ON)] for n in range(len(spoken) - 1))]
    ends = [_use(action, ends=True) for action in actions if action["name"] == HANDOVER_TOOL][:1]
    for action in actions:
        if action["requestor"] == "user":
            agent.append(Say(_request(action)))
            user += [_use(action), REPORTS[len(user) % len(REPORTS)]]
        elif action["name"] != HANDOVER_TOOL:
            agent.append(_use(action))
    return Rehearsal(
        user=(*user, UNDERSTOOD if ends else GOODBYE),
        agent=(*agent, HANDOVER if ends else DONE, *(ends or [Use("EndConversationTool")])),
    )


def _use(action: Mapping[str, Any], *, ends: bool = False) -> Use:
    return Use(action["name"], action["arguments"], writes=not ends, ends=ends)


def _request(action: Mapping[str, Any]) -> str:
    words = {key: str(value).replace("_", " ") for key, value in action["arguments"].items()}
    request = REQUESTS.get(action["name"], ANYTHING)
    return request.format(**words, function=action["name"].replace("_", " "))
