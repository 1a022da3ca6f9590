"""The operator of tau2, in two variants of its policy. Its data are not part of this pack."""

from __future__ import annotations

from pytest_voiceeval import register_eval_scenario

from ..tools._tau2_telecom_rows import check_today
from ._tau2_telecom import VARIANTS, telecom_scenarios

check_today()
for _scenario in telecom_scenarios(VARIANTS, __name__):
    register_eval_scenario(_scenario)
