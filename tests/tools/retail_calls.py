"""What calls of the tools of tau2's shop have in common."""

from __future__ import annotations

from pytest_voiceeval.scenarios.packs import builtin_pack

builtin_pack().load_tools()

DOMAIN = "tau2_retail"
ADDRESS = {
    "address1": "2 Oak St",
    "address2": "Flat 3",
    "city": "Köln",
    "state": "NV",
    "country": "USA",
    "zip": "89502",
}
