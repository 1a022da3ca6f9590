"""Prompts: a persona, a task, actions and resources as text for a model."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_voiceeval.model.parts import Actions, Persona, Resources, Task

VOICE_RULES = (
    "This is a phone call: every word you write is read out aloud exactly as it stands. "
    "Talk the way people talk, in one or two short sentences at a time. "
    "Write plain prose with ordinary punctuation: no Markdown, no headings, no list markers, no emojis. "
    "To list things, name them one after another the way a speaker would, such as first, second and last. "
    "Symbols that belong to an identifier may stay; say the name of any other symbol. "
    "Make nothing up, and if you do not know something, say so."
)
CALLER_RULES = "\n".join(
    [
        "# How to Call",
        "",
        "You are the one who calls; whoever answers works for the place that you call.",
        "",
        "- Say only what you yourself would say on the phone. What the other person says, offers, looks"
        " up or does is theirs to say: never speak for them, and never offer them help.",
        "- Answer what you are told in words of your own. Do not say the other person's sentence back "
        "to them; a plain yes or no confirms it as well.",
        "- Let the other person lead you through it. Begin with the reason for your call in one "
        "sentence, and give each further detail when you are asked for it, one or two at a time.",
        "- Give an identifier, such as an order number, a code, a phone number or an email address, one"
        " character at a time, with the name of each symbol.",
        "- All that you know is written above, or is shown to you by a tool. Where you are asked for "
        "something else, say that you do not have it.",
        "- Everything that you write is heard. Leave out stage directions, sounds and gestures, remarks"
        " about yourself, your name as a label before what you say, and all markup. Never mention these"
        " instructions.",
        "- Stay on the line until what you called for is done, or you have clearly heard that it cannot"
        " be done. Being promised it is not enough, and a question of yours that was not answered is "
        "reason to ask again.",
        "- Then say goodbye once, in one short sentence, and nothing after it. If you have a tool that "
        "ends the call, use it right after that goodbye and never before; if you have none, the other "
        "person hangs up.",
    ]
)
"""What keeps a model in the part of the caller."""

STAY_IN_ROLE = "Stay in this role for the whole conversation and do the task that you are given."
STEPS_LEAD_IN = "Follow these steps in order, one in each turn:"
GUIDELINES_LEAD_IN = "Keep to these at all times:"
DOCUMENTS_LEAD_IN = "You can consult these documents:"
INFORMATION_LEAD_IN = "This is what you know:"


def render_prompt(
    persona: Persona, task: Task, actions: Actions, resources: Resources, general_prompt: str = VOICE_RULES
) -> str:
    """Return the system prompt of one side. Tools are not part of it."""
    return _blocks(
        [
            render_persona(persona, general_prompt),
            render_task(task),
            render_actions(actions),
            render_resources(resources),
        ]
    )


def render_caller_prompt(prompt: str, rules: str = CALLER_RULES) -> str:
    """Return the system prompt of the simulated caller: ``prompt``, and how to call below it."""
    return _blocks([prompt, rules])


def render_persona(persona: Persona, general_prompt: str = VOICE_RULES) -> str:
    """Return who the side is, and how to speak; always something."""
    lines = [
        f"You are a {persona.role}.",
        f"Your name is {persona.name}." if persona.name else "",
        persona.background or "",
        persona.personality or "",
        _speech(persona.language, persona.accent),
        f"{STAY_IN_ROLE} {general_prompt}".strip(),
    ]
    return "\n".join(line for line in lines if line)


def _speech(language: str | None, accent: str | None) -> str:
    if language and accent:
        return f"You speak {language} with this accent: {accent}."
    if language:
        return f"You speak {language}."
    return f"You speak with this accent: {accent}." if accent else ""


def render_task(task: Task) -> str:
    """Return the background and the goal under ``# Task``; empty if there is neither."""
    goal = f"Your goal is to: {task.goal}" if task.goal else ""
    return _section("# Task", [task.background, goal])


def render_actions(actions: Actions) -> str:
    """Return steps and guidelines under ``# Actions``; empty if there are none."""
    steps = [f"Step {number}: {text}" for number, text in enumerate(actions.instructions, start=1)]
    guidelines = [f"- {text}" for text in actions.guidelines]
    return _section(
        "# Actions",
        [
            _section("## Instructions", [_listing(STEPS_LEAD_IN, steps)]),
            _section("## Guidelines", [_listing(GUIDELINES_LEAD_IN, guidelines)]),
        ],
    )


def render_resources(resources: Resources) -> str:
    """Return documents and information under ``# Resources``; empty if there are none."""
    documents = [f"- {name}: {path}" for name, path in resources.documents.items()]
    information = [f"- {text}" for text in resources.information]
    sections = [f"### {heading}\n{text}" for heading, text in (resources.info_sections or {}).items() if text]
    return _section(
        "# Resources",
        [
            _section("## Available Documents", [_listing(DOCUMENTS_LEAD_IN, documents)]),
            _section("## Additional Information", [_listing(INFORMATION_LEAD_IN, information), *sections]),
        ],
    )


def _listing(lead_in: str, lines: list[str]) -> str:
    return "\n".join([lead_in, *lines]) if lines else ""


def _section(heading: str, parts: Iterable[str]) -> str:
    body = _blocks(parts)
    return f"{heading}\n\n{body}" if body else ""


def _blocks(parts: Iterable[str]) -> str:
    return "\n\n".join(text for part in parts if (text := part.strip("\n")))
