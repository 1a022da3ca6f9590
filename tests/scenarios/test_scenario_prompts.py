from __future__ import annotations

import pytest

from pytest_voiceeval import Actions, Persona, Resources, Task
from pytest_voiceeval.scenarios.prompts import (
    DOCUMENTS_LEAD_IN,
    GUIDELINES_LEAD_IN,
    INFORMATION_LEAD_IN,
    STAY_IN_ROLE,
    STEPS_LEAD_IN,
    VOICE_RULES,
    render_actions,
    render_persona,
    render_prompt,
    render_resources,
    render_task,
)


def test_a_persona_has_its_lines_in_order() -> None:
    persona = Persona(
        role="waiter",
        name="Lee",
        background="You work nights.",
        personality="You are calm.",
        language="English",
        accent="Irish",
        behavior_config="never rendered",
        voice_config="never rendered",
    )
    assert render_persona(persona, "Speak up.").splitlines() == [
        "You are a waiter.",
        "Your name is Lee.",
        "You work nights.",
        "You are calm.",
        "You speak English with this accent: Irish.",
        f"{STAY_IN_ROLE} Speak up.",
    ]


@pytest.mark.parametrize(
    ("language", "accent", "line"),
    [("English", None, "You speak English."), (None, "Irish", "You speak with this accent: Irish.")],
)
def test_language_or_accent_alone(language: str | None, accent: str | None, line: str) -> None:
    assert render_persona(Persona(role="x", language=language, accent=accent)).splitlines()[1] == line


def test_a_persona_that_is_only_a_role_has_two_lines() -> None:
    assert render_persona(Persona(role="x")).splitlines() == ["You are a x.", f"{STAY_IN_ROLE} {VOICE_RULES}"]


def test_a_task_has_background_and_goal() -> None:
    assert render_task(Task(goal="sleep", background="It is late.")) == (
        "# Task\n\nIt is late.\n\nYour goal is to: sleep"
    )
    assert render_task(Task(goal="sleep")) == "# Task\n\nYour goal is to: sleep"


def test_actions_have_numbered_steps_and_guidelines() -> None:
    assert render_actions(Actions(instructions=["Come.", "Go."], guidelines=["Smile."])) == (
        f"# Actions\n\n## Instructions\n\n{STEPS_LEAD_IN}\nStep 1: Come.\nStep 2: Go.\n\n"
        f"## Guidelines\n\n{GUIDELINES_LEAD_IN}\n- Smile."
    )


def test_resources_have_documents_information_and_sections_but_no_tools() -> None:
    resources = Resources(
        tools={"SecretTool": {}},
        documents={"rules": "docs/rules.txt"},
        information=["Open until ten."],
        info_sections={"Parking": "Behind the house.\n", "Empty": ""},
    )
    assert render_resources(resources) == (
        f"# Resources\n\n## Available Documents\n\n{DOCUMENTS_LEAD_IN}\n- rules: docs/rules.txt\n\n"
        f"## Additional Information\n\n{INFORMATION_LEAD_IN}\n- Open until ten.\n\n"
        "### Parking\nBehind the house."
    )


def test_sections_alone_need_no_lead_in() -> None:
    assert render_resources(Resources(info_sections={"A": "b"})) == (
        "# Resources\n\n## Additional Information\n\n### A\nb"
    )


def test_an_empty_part_leaves_no_heading() -> None:
    assert render_task(Task(goal="")) == ""
    assert render_actions(Actions()) == ""
    assert render_resources(Resources(tools={"T": {}}, info_sections={"A": ""})) == ""


def test_parts_are_joined_by_one_blank_line() -> None:
    prompt = render_prompt(
        Persona(role="x"), Task(goal="g", background="b\n\n"), Actions(guidelines=["c"]), Resources()
    )
    assert "\n\n\n" not in prompt
    assert prompt == prompt.strip()
    assert [line for line in prompt.splitlines() if line.startswith("# ")] == ["# Task", "# Actions"]
