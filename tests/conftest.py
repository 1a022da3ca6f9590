"""Fixtures and settings of all tests. Its place makes the helpers in this folder importable."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A busy machine is slow, which is no fault of the code under test.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")
