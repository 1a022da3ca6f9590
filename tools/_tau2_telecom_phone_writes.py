"""Tools with which the customer changes settings of the phone."""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationError

from pytest_voiceeval.tools import NoParams, Params, ToolRefusal

from ._tau2_telecom_phone import (
    MODES,
    ApnSettings,
    PhoneSwitchTool,
    PhoneWriteTool,
    join_vpn,
    leave_vpn,
    leave_wifi,
    search_network,
    switch_airplane_mode,
)


class ModeParams(Params):
    """Parameters of the preferred network."""

    mode: str = Field(description=f"One of: {', '.join(MODES)}.")


class ApnParams(Params):
    """Parameters of the access point."""

    apn_settings: dict[str, Any] = Field(
        description="Settings by name: apn_name, reset_at_reboot, mms_apn, mmsc_url, mms_proxy, mms_port."
    )


class PermissionParams(Params):
    """Parameters of a permission."""

    app_name: str = Field(description="Name of the app, such as 'messaging'.")
    permission: str = Field(description="What it may use: sms, storage, phone or network.")


class ToggleAirplaneModeTool(PhoneSwitchTool):
    """Switches airplane mode."""

    name = "toggle_airplane_mode"
    description = "Switch airplane mode of your phone on if it is off, off if it is on."
    SETTING = "airplane_mode"
    LABEL = "Airplane Mode"

    def switch(self, on: bool) -> None:
        switch_airplane_mode(self.db, on=on)


class ToggleDataTool(PhoneSwitchTool):
    """Switches mobile data."""

    name = "toggle_data"
    description = "Switch mobile data of your phone on if it is off, off if it is on."
    SETTING = "data_enabled"
    LABEL = "Mobile Data"
    SEARCHES = True


class ToggleRoamingTool(PhoneSwitchTool):
    """Switches data roaming."""

    name = "toggle_roaming"
    description = "Switch data roaming of your phone on if it is off, off if it is on."
    SETTING = "roaming_enabled"
    LABEL = "Data Roaming"
    SEARCHES = True


class ToggleDataSaverModeTool(PhoneSwitchTool):
    """Switches the saving of data."""

    name = "toggle_data_saver_mode"
    description = "Switch data saver mode of your phone on if it is off, off if it is on."
    SETTING = "data_saver_mode"
    LABEL = "Data Saver Mode"


class ToggleWifiCallingTool(PhoneSwitchTool):
    """Switches calls over Wi-Fi."""

    name = "toggle_wifi_calling"
    description = "Switch Wi-Fi calling of your phone on if it is off, off if it is on."
    SETTING = "wifi_calling_enabled"
    LABEL = "Wi-Fi Calling"


class ToggleWifiTool(PhoneSwitchTool):
    """Switches Wi-Fi, unless the phone is in airplane mode."""

    name = "toggle_wifi"
    description = "Switch Wi-Fi of your phone on if it is off, off if it is on."
    SETTING = "wifi_enabled"
    LABEL = "Wi-Fi"

    def run(self, params: NoParams) -> str:
        if self.device["airplane_mode"]:
            return self.told("Cannot change Wi-Fi settings while Airplane Mode is ON.")
        return super().run(params)

    def switch(self, on: bool) -> None:
        super().switch(on)
        if not on:
            leave_wifi(self.device)


class SetNetworkModePreferenceTool(PhoneWriteTool[ModeParams]):
    """Sets which networks are preferred."""

    name = "set_network_mode_preference"
    description = "Set which types of mobile network your phone prefers."
    PARAMS_MODEL = ModeParams

    def run(self, params: ModeParams) -> str:
        mode = params.mode
        if mode not in MODES:
            return self.told(
                f"Failed to set network mode: '{mode}' is not a valid option. "
                f"Please use one of: {', '.join(MODES)}"
            )
        self.device["network_mode_preference"] = mode
        search_network(self.db)
        self.record_call(params, {"network_mode_preference": mode})
        return self.told(f"Preferred Network Mode set to: {mode}")


class ReseatSimCardTool(PhoneWriteTool[NoParams]):
    """Takes the SIM card out and puts it in."""

    name = "reseat_sim_card"
    description = "Take the SIM card out of your phone and put it in again."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        self.device["sim_card_missing"] = False
        search_network(self.db)
        self.record_call(params, {"sim_card_missing": False})
        return self.told("SIM card re-seated successfully.")


class SetApnSettingsTool(PhoneWriteTool[ApnParams]):
    """Sets the access point."""

    name = "set_apn_settings"
    description = "Set the technical settings by which your phone reaches the operator's network (APN)."
    PARAMS_MODEL = ApnParams

    def run(self, params: ApnParams) -> Any:
        try:
            settings = ApnSettings.model_validate(params.apn_settings)
        except ValidationError as error:
            raise ToolRefusal(self.VALIDATION_ERROR, f"apn_settings: {error}") from None
        kept = settings.model_dump(mode="json")
        self.device["active_apn_settings"] = kept
        search_network(self.db)
        self.record_call(params, dict(kept))
        return self.told(f"APN settings set to: {settings.apn_name}")


class ResetApnSettingsTool(PhoneWriteTool[NoParams]):
    """Has the access point reset when the phone starts again."""

    name = "reset_apn_settings"
    description = "Reset the APN settings of your phone. It takes effect when you reboot it."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        self.device["active_apn_settings"]["reset_at_reboot"] = True
        search_network(self.db)
        self.record_call(params, {"reset_at_reboot": True})
        return self.told("APN settings will reset at reboot.")


class ConnectVpnTool(PhoneWriteTool[NoParams]):
    """Connects to a VPN."""

    name = "connect_vpn"
    description = "Connect your phone to a VPN."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        if self.device["vpn_connected"]:
            return "VPN already connected."
        join_vpn(self.device)
        self.record_call(params, {"vpn_connected": True})
        return self.told("VPN connected successfully.")


class DisconnectVpnTool(PhoneWriteTool[NoParams]):
    """Leaves a VPN."""

    name = "disconnect_vpn"
    description = "Disconnect your phone from its VPN."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        if not self.device["vpn_connected"]:
            return self.told("No active VPN connection to disconnect.")
        leave_vpn(self.device)
        self.record_call(params, {"vpn_connected": False})
        return self.told("VPN disconnected successfully.")


class GrantAppPermissionTool(PhoneWriteTool[PermissionParams]):
    """Lets an app use something."""

    name = "grant_app_permission"
    description = "Let an app on your phone use something."
    PARAMS_MODEL = PermissionParams

    def run(self, params: PermissionParams) -> str:
        app = self.device["app_statuses"].get(params.app_name)
        if app is None:
            return self.told(f"Error. App '{params.app_name}' not found. Cannot grant permission.")
        permissions = app["permissions"]
        permission = params.permission.lower()
        if permission not in permissions:
            return self.told(
                f"Error. Permission '{permission}' not tracked for app '{params.app_name}', "
                f"available permissions: {list(permissions)}"
            )
        permissions[permission] = True
        self.record_call(params, {"granted": True})
        return self.told(f"Success. Permission '{permission}' granted to app '{params.app_name}'.")


class RebootDeviceTool(PhoneWriteTool[NoParams]):
    """Starts the phone again."""

    name = "reboot_device"
    description = "Reboot your phone."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        lines = []
        if self.device["active_apn_settings"]["reset_at_reboot"]:
            self.device["active_apn_settings"] = ApnSettings().model_dump(mode="json")
            lines.append("Resetting APN settings...")
        search_network(self.db)
        self.record_call(params, {"rebooted": True})
        return self.told("\n".join([*lines, "Restarting network services..."]))


class MakePaymentTool(PhoneWriteTool[NoParams]):
    """Pays the bill that the operator asks to be paid."""

    name = "make_payment"
    description = "Pay the bill that the operator has asked you to pay."
    PARAMS_MODEL = NoParams

    def run(self, params: NoParams) -> str:
        request = self.db["surroundings"]["payment_request"]
        if not request:
            return "You do not have a payment request."
        request["paid"] = True
        self.record_call(params, {"bill_id": request["bill_id"], "amount": request["amount_due"]})
        return f"Payment of {request['amount_due']} USD has been made for bill {request['bill_id']}."


PHONE_WRITES = (
    ToggleAirplaneModeTool,
    ToggleDataTool,
    ToggleRoamingTool,
    ToggleDataSaverModeTool,
    ToggleWifiTool,
    ToggleWifiCallingTool,
    SetNetworkModePreferenceTool,
    ReseatSimCardTool,
    SetApnSettingsTool,
    ResetApnSettingsTool,
    ConnectVpnTool,
    DisconnectVpnTool,
    GrantAppPermissionTool,
    RebootDeviceTool,
    MakePaymentTool,
)
