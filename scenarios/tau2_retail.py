"""The shop of tau2: customers change, return and exchange orders. Its data are not part of this pack."""

from __future__ import annotations

from pytest_voiceeval import register_eval_scenario

from ..tools import tau2_retail
from ._tau2 import Tau2Scenario, scenarios_of


class Tau2RetailScenario(Tau2Scenario):
    """A customer calls the shop. A judge decides on the assertions of the tasks that have some."""

    domain = "tau2_retail"
    TOOLS = tau2_retail.TOOLS
    JUDGES_ASSERTIONS = True


for _scenario in scenarios_of(Tau2RetailScenario, __name__):
    register_eval_scenario(_scenario)
