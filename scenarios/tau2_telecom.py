"""The operator of tau2, in two variants of its policy. Its data are not part of this pack."""

from __future__ import annotations

from pytest_voiceeval import register_eval_scenario

from ._tau2_telecom import TelecomScenario, telecom_scenarios


class TelecomWorkflowScenario(TelecomScenario):
    """The agent's policy has the text on technical support as a workflow."""

    VARIANT = "workflow"


VARIANTS = {"tau2_telecom": TelecomScenario, "tau2_telecom_workflow": TelecomWorkflowScenario}

for _scenario in telecom_scenarios(VARIANTS, __name__):
    register_eval_scenario(_scenario)
