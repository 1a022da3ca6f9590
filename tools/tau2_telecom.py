"""Tools of tau2's telecom: the operator's, for the agent, and those of the phone, for the customer."""

from __future__ import annotations

from pytest_voiceeval.tools import register_schema_tool_for_eval

from . import _tau2_telecom_claims, _tau2_telecom_sync  # noqa: F401 - they register what they define
from ._tau2_telecom_phone_reads import PHONE_READS
from ._tau2_telecom_phone_writes import PHONE_WRITES
from ._tau2_telecom_reads import READS
from ._tau2_telecom_setup import DOMAIN
from ._tau2_telecom_writes import WRITES

__all__ = ["DOMAIN", "PHONE_READS", "PHONE_WRITES", "READS", "WRITES"]

for _tool in (*READS, *WRITES, *PHONE_READS, *PHONE_WRITES):
    register_schema_tool_for_eval(DOMAIN)(_tool)
