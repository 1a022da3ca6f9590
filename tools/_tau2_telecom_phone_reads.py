"""Tools with which the customer looks at the phone."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from pytest_voiceeval.tools import NoParams, Params

from ._tau2_telecom_phone import PhoneTool, can_send_mms, sim_status, speed_test, status_bar

ADVICE = {
    "Very Poor": "Connection is very slow. Basic web browsing will be difficult.",
    "Poor": "Connection is slow. Web browsing may be sluggish, streaming difficult.",
    "Fair": "Connection is okay for web browsing and some standard definition streaming.",
    "Good": "Connection is good for most activities, including HD streaming.",
    "Excellent": "Connection is very fast.",
}
SIM_TEXTS = {
    "active": "Your SIM card is active and working.",
    "missing": "No SIM card detected in the phone.",
    "locked_pin": "The SIM card is locked with a PIN code.",
    "locked_puk": "The SIM card is locked with a PUK code.",
}


class AppParams(Params):
    """Parameters of a look at an app."""

    app_name: str = Field(description="Name of the app, such as 'messaging' or 'browser'.")


class CheckStatusBarTool(PhoneTool[NoParams]):
    """Reads the status bar."""

    name = "check_status_bar"
    description = "Look at the status bar of your phone: signal, network, mobile data, Wi-Fi, battery."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        return f"Status Bar: {status_bar(self.db)}"


class CheckNetworkStatusTool(PhoneTool[NoParams]):
    """Reads all that concerns networks."""

    name = "check_network_status"
    description = "Look at your phone's connections: SIM card, signal, network type, data, roaming, Wi-Fi."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        device = self.device
        lines = [
            f"Airplane Mode: {_on(device['airplane_mode'])}",
            f"SIM Card Status: {sim_status(device)}",
            f"Cellular Connection: {device['network_connection_status']}",
            f"Cellular Signal: {device['network_signal_strength']}",
            f"Cellular Network Type: {device['network_technology_connected']}",
            f"Mobile Data Enabled: {_yes(device['data_enabled'])}",
            f"Data Roaming Enabled: {_yes(device['roaming_enabled'])}",
            f"Wi-Fi Radio: {_on(device['wifi_enabled'])}",
            f"Wi-Fi Connected: {_yes(device['wifi_connected'])}",
        ]
        if device["wifi_connected"]:
            lines.append(f"Connected Wi-Fi Network: {device['wifi_ssid']}")
        return "\n".join(lines)


class CheckNetworkModePreferenceTool(PhoneTool[NoParams]):
    """Reads which networks are preferred."""

    name = "check_network_mode_preference"
    description = "Look up which types of mobile network your phone prefers."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        return f"Network Mode Preference: {self.device['network_mode_preference']}"


class CheckSimStatusTool(PhoneTool[NoParams]):
    """Reads the state of the SIM card."""

    name = "check_sim_status"
    description = "See whether your SIM card works, is missing, or is locked."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        status = sim_status(self.device)
        return SIM_TEXTS.get(status, f"Unknown SIM status: {status}")


class CheckDataRestrictionStatusTool(PhoneTool[NoParams]):
    """Reads whether data is saved."""

    name = "check_data_restriction_status"
    description = "See whether your phone limits how much data it uses."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        saves = self.device["data_saver_mode"]
        return "Data Saver mode is ON (limits data usage)." if saves else "Data Saver mode is OFF."


class CheckApnSettingsTool(PhoneTool[NoParams]):
    """Reads the access point."""

    name = "check_apn_settings"
    description = "Look at the technical settings by which your phone reaches the operator's network (APN)."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        settings = self.device["active_apn_settings"]
        return (
            f"Current APN Name: {settings['apn_name'] or 'Not Set'}\n"
            f"MMSC URL (for picture messages): {settings['mmsc_url'] or 'Not Set'}\n"
            "(These are technical settings, usually best left unchanged.)"
        )


class CheckWifiStatusTool(PhoneTool[NoParams]):
    """Reads the state of Wi-Fi."""

    name = "check_wifi_status"
    description = "See whether Wi-Fi is on, and which network your phone is connected to."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        device = self.device
        if not device["wifi_enabled"]:
            return "Wi-Fi is turned OFF."
        if not device["wifi_connected"]:
            return "Wi-Fi is ON but not connected to any network."
        return (
            f"Wi-Fi is ON and connected to '{device['wifi_ssid']}'. "
            f"Signal strength: {device['wifi_signal_strength']}."
        )


class CheckWifiCallingStatusTool(PhoneTool[NoParams]):
    """Reads whether calls go over Wi-Fi."""

    name = "check_wifi_calling_status"
    description = "See whether your phone makes calls over Wi-Fi."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        return f"Wi-Fi Calling is currently turned {_on(self.device['wifi_calling_enabled'])}."


class CheckVpnStatusTool(PhoneTool[NoParams]):
    """Reads the state of the VPN."""

    name = "check_vpn_status"
    description = "See whether your phone uses a VPN, and how well its server works."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        device = self.device
        if device["vpn_connected"]:
            details = device["vpn_details"]
            if details:
                return f"VPN is ON and connected. Details: {dict(details)}"
            return "VPN is ON and connected. Details are not available."
        if device["vpn_enabled_setting"]:
            return "VPN is enabled in the settings, but not connected."
        return "VPN is turned OFF."


class CheckInstalledAppsTool(PhoneTool[NoParams]):
    """Lists the apps."""

    name = "check_installed_apps"
    description = "List the apps on your phone."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        return f"The following apps are installed on the phone: {', '.join(self.device['app_statuses'])}"


class CheckAppStatusTool(PhoneTool[AppParams]):
    """Reads the state of an app."""

    name = "check_app_status"
    description = "Look at an app on your phone, and at what it may use."
    PARAMS_MODEL = AppParams

    def run(self, params: AppParams) -> str:
        app = self.device["app_statuses"].get(params.app_name)
        if app is None:
            return _no_app(params.app_name)
        granted = _granted(app)
        lines = [f"Status for App: {params.app_name}"]
        if granted:
            lines += [" - Permissions Granted:", *(f"   - {permission}" for permission in granted)]
        else:
            lines.append(" - Permissions: None granted.")
        return "\n".join(lines)


class CheckAppPermissionsTool(PhoneTool[AppParams]):
    """Reads what an app may use."""

    name = "check_app_permissions"
    description = "See what an app on your phone may use."
    PARAMS_MODEL = AppParams

    def run(self, params: AppParams) -> str:
        app = self.device["app_statuses"].get(params.app_name)
        if app is None:
            return _no_app(params.app_name)
        granted = _granted(app)
        if not granted:
            return f"App '{params.app_name}' currently has no permissions granted."
        return f"App '{params.app_name}' has permission for: {', '.join(granted)}."


class CanSendMmsTool(PhoneTool[NoParams]):
    """Tries whether a picture message would go out."""

    name = "can_send_mms"
    description = "Try whether your messaging app can send picture messages (MMS)."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        able = "can" if can_send_mms(self.db) else "cannot"
        return f"Your messaging app {able} send MMS messages."


class CheckPaymentRequestTool(PhoneTool[NoParams]):
    """Reads whether the operator asks for money."""

    name = "check_payment_request"
    description = "See whether the operator has asked you to pay a bill."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        request = self.db["surroundings"]["payment_request"]
        if not request:
            return "No payment request has been made."
        return f"You have a payment request for bill {request['bill_id']} of {request['amount_due']} USD."


class RunSpeedTestTool(PhoneTool[NoParams]):
    """Measures the speed of the internet."""

    name = "run_speed_test"
    description = "Measure how fast the internet is on your phone."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        speed, label = speed_test(self.db)
        if speed is None:
            return f"Speed test failed: {label}."
        return f"Speed Test Result: {speed:.2f} Mbps ({label}). {ADVICE[label]}"


PHONE_READS = (
    CheckStatusBarTool,
    CheckNetworkStatusTool,
    CheckNetworkModePreferenceTool,
    CheckSimStatusTool,
    CheckDataRestrictionStatusTool,
    CheckApnSettingsTool,
    CheckWifiStatusTool,
    CheckWifiCallingStatusTool,
    CheckVpnStatusTool,
    CheckInstalledAppsTool,
    CheckAppStatusTool,
    CheckAppPermissionsTool,
    CanSendMmsTool,
    CheckPaymentRequestTool,
    RunSpeedTestTool,
)


def _on(switch: Any) -> str:
    return "ON" if switch else "OFF"


def _yes(claim: Any) -> str:
    return "Yes" if claim else "No"


def _no_app(name: str) -> str:
    return f"App '{name}' not found on this phone."


def _granted(app: dict[str, Any]) -> list[str]:
    """Return the permissions of an app, in words."""
    permissions = app.get("permissions") or {}
    return [name.lower().replace("_", " ") for name, granted in permissions.items() if granted]
