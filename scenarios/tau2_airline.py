"""The airline of tau2: customers book, change and cancel flights. Its data are not part of this pack."""

from __future__ import annotations

from pytest_voiceeval import register_eval_scenario

from ..tools import tau2_airline
from ._tau2 import Tau2Scenario, scenarios_of


class Tau2AirlineScenario(Tau2Scenario):
    """A customer calls the airline. The assertions that its tasks list take no part in the verdict."""

    domain = "tau2_airline"
    TOOLS = tau2_airline.TOOLS


for _scenario in scenarios_of(Tau2AirlineScenario, __name__):
    register_eval_scenario(_scenario)
