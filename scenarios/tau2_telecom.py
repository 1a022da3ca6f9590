"""The operator of tau2, in two variants of its policy. Its data are not part of this pack."""

from __future__ import annotations

from pytest_voiceeval import register_eval_scenario

from ._tau2_telecom import VARIANTS, telecom_scenarios

for _scenario in telecom_scenarios(VARIANTS, __name__):
    register_eval_scenario(_scenario)
