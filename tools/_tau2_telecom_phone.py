"""The customer's phone in tau2's telecom: what its settings and its surroundings come to."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from pytest_voiceeval.tools import CheckedTool, CheckedWriteTool, NoParams

Row = dict[str, Any]
P = TypeVar("P", bound=BaseModel)

MODES = ("4g_5g_preferred", "4g_only", "3g_only", "2g_only")
STATUSES = ("connected", "searching", "no_service", "emergency_only")

MBPS = {"2G": (0.1, 0.4), "3G": (1, 5), "4G": (10, 100), "5G": (50, 500)}
"""Slowest and fastest megabits a second of a technology."""

STRENGTH = {"poor": 0.2, "fair": 0.5, "good": 0.8, "excellent": 1.0}
"""Share of the speed that a signal leaves."""

SPEED_LABELS = ((1, "Very Poor"), (5, "Poor"), (25, "Fair"), (100, "Good"))
"""Speeds below which a label holds; above all of them it is excellent."""

BARS = {
    "none": "📵 No Signal",
    "poor": "📶¹ Poor",
    "fair": "📶² Fair",
    "good": "📶³ Good",
    "excellent": "📶⁴ Excellent",
}


class ApnSettings(BaseModel):
    """How the phone reaches the operator's network; the defaults are those that work."""

    model_config = ConfigDict(extra="forbid")

    apn_name: Literal["internet", "broken"] = "internet"
    reset_at_reboot: bool = False
    mms_apn: str | None = "mms"
    mmsc_url: str | None = "http://mms.carrier.com/mms/wapenc"
    mms_proxy: str | None = None
    mms_port: int | None = None


class _UserSide:
    """How a tool of the phone refuses a call, and where it finds the phone."""

    VALIDATION_ERROR: ClassVar[str] = "invalid_arguments"
    NO_DB_MESSAGE: ClassVar[str] = (
        "Scenario user-side database not loaded. This indicates a fixture-loading bug."
    )
    db: Row

    @property
    def device(self) -> Row:
        """The phone."""
        return self.db["device"]  # type: ignore[no-any-return]  # a database holds anything


class PhoneTool(_UserSide, CheckedTool[P], Generic[P]):
    """A tool of the user's side that only looks."""


class PhoneWriteTool(_UserSide, CheckedWriteTool[P], Generic[P]):
    """A tool of the user's side that changes the phone and records it."""

    def told(self, text: str) -> str:
        """Return a result with the status bar below it, as it is now."""
        return f"{text}\nStatus Bar: {status_bar(self.db)}"


def sim_status(device: Row) -> str:
    """Return the state of the SIM card; one that is out of the phone is missing, whatever else it is."""
    return "missing" if device["sim_card_missing"] else str(device["sim_card_status"])


def search_network(db: Row) -> None:
    """Work out anew which network the phone is on: the one place where that is decided."""
    device, around = db["device"], db.get("surroundings") or {}
    cut_off = (
        sim_status(device) != "active"
        or device["airplane_mode"]
        or device["active_apn_settings"]["apn_name"] == "broken"
        or not around.get("line_active", True)
    )
    technology = _technology(device["network_mode_preference"], around.get("signal_strength") or {})
    signal = (around.get("signal_strength") or {}).get(technology, "none")
    device["network_connection_status"] = "no_service" if cut_off else "connected"
    device["network_technology_connected"] = "none" if cut_off else technology
    device["network_signal_strength"] = "none" if cut_off else signal


def _technology(preference: str, signals: Row) -> str:
    match preference:
        case "4g_5g_preferred" if signals.get("5G", "none") != "none":
            return "5G"
        case "3g_only":
            return "3G"
        case "2g_only":
            return "2G"
        case _:
            return "4G"


def mobile_data_works(db: Row) -> bool:
    """Return whether the phone reaches the internet over the operator's network."""
    device, around = db["device"], db["surroundings"]
    may_roam = device["roaming_enabled"] and around["roaming_allowed"]
    return not (
        device["airplane_mode"]
        or device["network_signal_strength"] == "none"
        or device["network_connection_status"] == "no_service"
        or (around["is_abroad"] and not may_roam)
        or not device["data_enabled"]
        or around["mobile_data_usage_exceeded"]
    )


def speed_test(db: Row) -> tuple[float | None, str]:
    """Return megabits a second and what to call that; ``None`` where nothing goes through."""
    if not mobile_data_works(db):
        return None, "No Connection"
    device = db["device"]
    details = device["vpn_details"] or {}
    factor = 1.0
    if device["vpn_connected"] and details.get("server_performance") == "poor":
        factor *= 0.1
    if device["data_saver_mode"]:
        factor *= 0.2
    low, high = MBPS.get(device["network_technology_connected"], (0, 0))
    strength = STRENGTH.get(device["network_signal_strength"], 0)
    speed = round((low + high) / 2 * strength * factor, 2)
    return speed, next((label for below, label in SPEED_LABELS if speed < below), "Excellent")


def can_send_mms(db: Row) -> bool:
    """Return whether a picture message goes out."""
    device = db["device"]
    permissions = (device["app_statuses"].get("messaging") or {}).get("permissions") or {}
    return bool(
        mobile_data_works(db)
        and device["network_technology_connected"] != "2G"
        and not (device["wifi_calling_enabled"] and device["wifi_calling_mms_over_wifi"])
        and device["active_apn_settings"]["mmsc_url"] is not None
        and permissions.get("storage")
        and permissions.get("sms")
    )


def status_bar(db: Row) -> str:
    """Return what the top of the screen shows."""
    device = db["device"]
    parts = ["✈️ Airplane Mode"] if device["airplane_mode"] else _network_parts(device)
    if device["wifi_enabled"] and device["wifi_connected"]:
        ssid = device["wifi_ssid"]
        parts.append(f"📡 Connected to {ssid}" if ssid else "📡 Enabled")
    if device["vpn_connected"]:
        parts.append("🔒 VPN Connected")
    return " | ".join([*parts, f"🔋 {device['battery_level']}%"])


def _network_parts(device: Row) -> list[str]:
    technology = device["network_technology_connected"]
    has_network = technology != "none"
    parts = [BARS[device["network_signal_strength"]]]
    if has_network:
        parts.append(technology)
    if not (device["data_enabled"] and has_network):
        return [*parts, "📵 Data Disabled"]
    saver = ["🔽 Data Saver"] if device["data_saver_mode"] else []
    return [*parts, "📱 Data Enabled", *saver]


def leave_wifi(device: Row) -> None:
    """Drop the connection to a Wi-Fi network."""
    device["wifi_connected"] = False
    device["wifi_ssid"] = None
    device["wifi_signal_strength"] = "none"


def join_vpn(device: Row) -> None:
    """Connect to a VPN server that works well."""
    device["vpn_connected"] = True
    device["vpn_details"] = {
        "server_address": "192.168.1.1",
        "protocol": "OpenVPN",
        "server_performance": "excellent",
    }


def leave_vpn(device: Row) -> None:
    """Drop the connection to a VPN server."""
    device["vpn_connected"] = False
    device["vpn_details"] = None


def switch_airplane_mode(db: Row, *, on: bool) -> None:
    """Switch airplane mode, with all that follows for the networks."""
    device = db["device"]
    device["airplane_mode"] = on
    if on or device["wifi_enabled"]:
        leave_wifi(device)
    if on and device["vpn_connected"]:
        leave_vpn(device)
    search_network(db)


class PhoneSwitchTool(PhoneWriteTool[NoParams]):
    """Base: flips one setting of the phone."""

    PARAMS_MODEL = NoParams
    SETTING: ClassVar[str]
    LABEL: ClassVar[str]
    SEARCHES: ClassVar[bool] = False

    def run(self, params: NoParams) -> str:
        on = not self.device[self.SETTING]
        self.switch(on)
        if self.SEARCHES:
            search_network(self.db)
        self.record_call(params, {self.SETTING: on})
        return self.told(f"{self.LABEL} is now {'ON' if on else 'OFF'}.")

    def switch(self, on: bool) -> None:
        """Put the setting to what it was not."""
        self.device[self.SETTING] = on
