"""A small operator and a phone, in the shape of tau2's databases, made up for tests."""

from __future__ import annotations

from typing import Any

from small_worlds import Row

from pytest_voiceeval.scenarios.packs import builtin_pack

builtin_pack().load_tools()

DOMAIN = "tau2_telecom"


def line(line_id: str, number: str, **fields: Any) -> Row:
    plain = {
        "line_id": line_id,
        "phone_number": number,
        "status": "Active",
        "plan_id": "P1",
        "device_id": None,
        "data_used_gb": 3.0,
        "data_refueling_gb": 0.0,
        "roaming_enabled": False,
        "contract_end_date": "2026-01-31",
        "last_plan_change_date": None,
        "last_sim_replacement_date": None,
        "suspension_start_date": None,
    }
    return plain | fields


def bill(bill_id: str, status: str, issued: str, due: float = 20.0) -> Row:
    return {
        "bill_id": bill_id,
        "customer_id": "C1",
        "period_start": issued,
        "period_end": issued,
        "issue_date": issued,
        "total_due": due,
        "due_date": issued,
        "line_items": [],
        "status": status,
    }


def operator() -> Row:
    return {
        "plans": [
            {
                "plan_id": "P1",
                "name": "Small",
                "data_limit_gb": 5.0,
                "price_per_month": 20.0,
                "data_refueling_price_per_gb": 2.5,
            }
        ],
        "customers": [
            {
                "customer_id": "C1",
                "full_name": "Ada Byron",
                "date_of_birth": "1980-12-10",
                "phone_number": "555-000-0001",
                "line_ids": ["L1", "L2"],
                "bill_ids": ["B1", "B2", "B9"],
            }
        ],
        "lines": [line("L1", "555-000-0001"), line("L2", "555-000-0002", status="Suspended")],
        "bills": [bill("B1", "Overdue", "2025-01-01"), bill("B2", "Draft", "2025-03-01", 0.0)],
        "devices": [],
    }


def phone() -> Row:
    return {
        "device": {
            "sim_card_status": "active",
            "sim_card_missing": False,
            "airplane_mode": False,
            "network_signal_strength": "good",
            "network_technology_connected": "5G",
            "network_connection_status": "connected",
            "battery_level": 50,
            "data_enabled": True,
            "roaming_enabled": False,
            "network_mode_preference": "4g_5g_preferred",
            "active_apn_settings": {
                "apn_name": "internet",
                "reset_at_reboot": False,
                "mms_apn": "mms",
                "mmsc_url": "http://mms.example",
                "mms_proxy": None,
                "mms_port": None,
            },
            "wifi_enabled": False,
            "wifi_connected": False,
            "wifi_ssid": None,
            "wifi_signal_strength": "none",
            "wifi_calling_enabled": False,
            "wifi_calling_mms_over_wifi": False,
            "data_saver_mode": False,
            "vpn_enabled_setting": False,
            "vpn_connected": False,
            "vpn_details": None,
            "app_statuses": {
                "messaging": {
                    "app_name": "messaging",
                    "permissions": {"sms": True, "storage": True, "phone": False, "network": False},
                }
            },
        },
        "surroundings": {
            "name": "Ada Byron",
            "phone_number": "555-000-0001",
            "is_abroad": False,
            "roaming_allowed": False,
            "signal_strength": {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent"},
            "mobile_data_usage_exceeded": False,
            "line_active": True,
            "payment_request": None,
        },
    }
