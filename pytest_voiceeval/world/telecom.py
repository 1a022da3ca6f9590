"""The two databases of tau2's operator: read from TOML, checked, and with all their defaults filled in.

The fields stand in the order in which they are written. Hashes of worlds count on every one of them.
"""

from __future__ import annotations

import json
import tomllib
from datetime import date, datetime
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field, ValidationError

from pytest_voiceeval.errors import DataError

Signal: TypeAlias = Literal["none", "poor", "fair", "good", "excellent"]
Technology: TypeAlias = Literal["none", "2G", "3G", "4G", "5G"]


class _Record(BaseModel, extra="forbid"):
    pass


class _Plan(_Record):
    plan_id: str
    name: str
    data_limit_gb: float
    price_per_month: float
    data_refueling_price_per_gb: float


class _Address(_Record):
    street: str
    city: str
    state: str
    zip_code: str


class _PaymentMethod(_Record):
    method_type: Literal["Credit Card", "Debit Card", "PayPal"]
    account_number_last_4: str
    expiration_date: str


class _Customer(_Record):
    customer_id: str
    full_name: str
    date_of_birth: str
    email: str
    phone_number: str
    address: _Address
    account_status: Literal["Active", "Suspended", "Pending Verification", "Closed"] = "Pending Verification"
    payment_methods: list[_PaymentMethod] = []
    line_ids: list[str] = []
    bill_ids: list[str] = []
    created_at: datetime = datetime(2025, 1, 1)
    last_extension_date: date | None = None
    goodwill_credit_used_this_year: float = 0.0


class _Line(_Record):
    line_id: str
    phone_number: str
    status: Literal["Active", "Suspended", "Pending Activation", "Closed"] = "Pending Activation"
    plan_id: str
    device_id: str | None = None
    data_used_gb: float = 0.0
    data_refueling_gb: float = 0.0
    roaming_enabled: bool = False
    contract_end_date: date | None = None
    last_plan_change_date: date | None = None
    last_sim_replacement_date: date | None = None
    suspension_start_date: date | None = None


class _LineItem(_Record):
    description: str
    amount: float
    date: date
    item_type: str


class _Bill(_Record):
    bill_id: str
    customer_id: str
    period_start: date
    period_end: date
    issue_date: date
    total_due: float
    due_date: date
    line_items: list[_LineItem] = []
    status: Literal["Draft", "Issued", "Awaiting Payment", "Paid", "Overdue", "Disputed"] = "Draft"


class _Device(_Record):
    device_id: str
    device_type: Literal["phone", "router", "tablet", "watch", "other"]
    model: str
    imei: str | None = None
    is_esim_capable: bool
    activated: bool = False
    activation_date: datetime | None = None
    last_esim_transfer_date: datetime | None = None


class TelecomDB(_Record):
    """The operator's database, on the agent's side."""

    plans: list[_Plan] = []
    customers: list[_Customer] = []
    lines: list[_Line] = []
    bills: list[_Bill] = []
    devices: list[_Device] = []


class _AccessPoint(_Record):
    apn_name: Literal["internet", "broken"] = "internet"
    reset_at_reboot: bool = False
    mms_apn: str | None = "mms"
    mmsc_url: str | None = "http://mms.carrier.com/mms/wapenc"
    mms_proxy: str | None = None
    mms_port: int | None = None


class _Vpn(_Record):
    server_address: str | None = None
    protocol: str | None = None
    server_performance: Literal["unknown", "poor", "fair", "good", "excellent"] = "unknown"


class _Permissions(_Record):
    sms: bool = False
    storage: bool = False
    phone: bool = False
    network: bool = False


class _App(_Record):
    app_name: str
    permissions: _Permissions = _Permissions()


def _apps() -> dict[str, _App]:
    return {
        "messaging": _App(
            app_name="messaging", permissions=_Permissions(sms=True, storage=True, phone=True, network=False)
        ),
        "browser": _App(
            app_name="browser", permissions=_Permissions(sms=False, storage=True, phone=False, network=True)
        ),
    }


class _Phone(_Record):
    sim_card_status: Literal["active", "missing", "locked_pin", "locked_puk"] = "active"
    sim_card_missing: bool = False
    airplane_mode: bool = False
    network_signal_strength: Signal = "good"
    network_technology_connected: Technology = "5G"
    network_connection_status: Literal["connected", "searching", "no_service", "emergency_only"] = "connected"
    battery_level: int = 80
    data_enabled: bool = True
    roaming_enabled: bool = False
    network_mode_preference: Literal["4g_5g_preferred", "4g_only", "3g_only", "2g_only"] = "4g_5g_preferred"
    active_apn_settings: _AccessPoint = _AccessPoint()
    wifi_enabled: bool = False
    wifi_connected: bool = False
    wifi_ssid: str | None = None
    wifi_signal_strength: Signal = "none"
    wifi_calling_enabled: bool = False
    wifi_calling_mms_over_wifi: bool = False
    data_saver_mode: bool = False
    vpn_enabled_setting: bool = False
    vpn_connected: bool = False
    vpn_details: _Vpn | None = None
    app_statuses: dict[str, _App] = Field(default_factory=_apps)


class _PaymentRequest(_Record):
    bill_id: str
    amount_due: float
    paid: bool = False


class _Surroundings(_Record):
    name: str | None = None
    phone_number: str | None = None
    is_abroad: bool = False
    roaming_allowed: bool = False
    signal_strength: dict[Technology, Signal] = {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent"}
    mobile_data_usage_exceeded: bool = False
    line_active: bool = True
    payment_request: _PaymentRequest | None = None


class TelecomUserDB(_Record):
    """The customer's phone and what is around it, on the caller's side."""

    device: _Phone = _Phone()
    surroundings: _Surroundings = _Surroundings()


MODELS: dict[str, type[BaseModel]] = {"db": TelecomDB, "user_db": TelecomUserDB}
"""What the databases of its data are, by the names of their files without an ending."""


def database_from_toml(text: str, model: type[BaseModel], where: str) -> str:
    """Return a database that is written as TOML as the text of a JSON file, with all defaults.

    Args:
        text: the TOML.
        model: ``TelecomDB`` or ``TelecomUserDB``.
        where: name of the file, for errors.

    Raises:
        DataError: if it is not TOML, or not such a database.
    """
    try:
        database = model.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as exc:
        raise DataError(f"{where}: not TOML: {exc}") from exc
    except ValidationError as exc:
        fault = exc.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise DataError(f"{where}: {place}: {fault['msg']}; {model.__name__} has other fields") from exc
    return json.dumps(database.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
