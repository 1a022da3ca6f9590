"""Scenarios whose names have brackets, bars, colons and many letters."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from canned_project import run_folder

from pytest_voiceeval.run.files import file_name

LONG = "phone__" + "__".join(["airplane_mode_on", "bad_network_preference", "break_apn_settings"] * 4)
NAMES = ("phone__[mms_issue]a|b[PERSONA:None]", f"{LONG}__easy", f"{LONG}__hard")

PHONE = f'''
"""Scenarios that are named as a benchmark names its tasks."""
from pytest_voiceeval import register_eval_scenario
from .shop import ShopScenario

for number, name in enumerate({NAMES!r}):
    register_eval_scenario(type(f"Row{{number}}", (ShopScenario,), {{"name": name}}))
'''


@pytest.mark.parametrize("workers", ["0", "2"])
def test_odd_names_work_everywhere(project: pytest.Pytester, workers: str) -> None:
    (project.path / "scenarios" / "phone.py").write_text(PHONE, encoding="utf-8")
    result = project.runpytest_subprocess(
        "-n", workers, "--voice-scenarios=phone", "--junitxml=junit.xml", "--alluredir=allure", "-v"
    )
    result.assert_outcomes(passed=3)
    cases = ET.parse(project.path / "junit.xml").getroot().iter("testcase")
    assert sorted(case.attrib["name"] for case in cases) == sorted(NAMES)
    assert len(list((project.path / "allure").glob("*-result.json"))) == 3
    for name in NAMES:
        assert (run_folder(project.path) / file_name(name) / "metrics.json").is_file()


@pytest.mark.parametrize("how", ["node id", "-k", "selector"])
def test_an_odd_name_is_selected(project: pytest.Pytester, how: str) -> None:
    (project.path / "scenarios" / "phone.py").write_text(PHONE, encoding="utf-8")
    choice = {
        "node id": (f"scenarios/phone.py::{NAMES[0]}",),
        "-k": ("--voice-scenarios=phone", "-k", "mms_issue and PERSONA"),
        "selector": (f"--voice-scenarios={NAMES[0]}",),
    }[how]
    result = project.runpytest(*choice)
    result.assert_outcomes(passed=1)
