"""The airline of eva: passengers rebook, cancel, and ask for what they are owed.

Its data are not part of this pack. Five scenarios are named by what they are about; what their callers are
told follows from the dataset all the same, as in the other 45 (``eva_airline__1_1_3`` and so on).
"""

from __future__ import annotations

from pytest_voiceeval import register_eval_scenario

from ._eva_airline import scenarios

for _scenario in scenarios(__name__):
    register_eval_scenario(_scenario)
