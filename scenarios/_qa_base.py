"""What the scenarios of the question line share: Lisa, who answers one question, and how that goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pytest_voiceeval import Actions, Persona, Rehearsal, Resources, Say, Scenario, SuccessSignal, Task, Use

from ..tools import basic  # noqa: F401 - registers the tools that the scenarios name

TOOLS: dict[str, dict[str, Any]] = {"SaveQuestionAnswerTool": {}, "EndConversationTool": {}}
WEATHER_TOOLS: dict[str, dict[str, Any]] = {"GetCityWeatherTool": {}, **TOOLS}


class QuestionBaseScenario(Scenario):
    """A caller asks one question, which Lisa answers and saves. A judge compares that with the reference.

    Without a judge nobody can say whether the answer is right: nothing is scored then, not even by how the
    call ended.
    """

    success_signals = (SuccessSignal.JUDGE_PASSED, SuccessSignal.CLEAN_EXIT)
    max_duration = 60
    ignore_capitalization = True
    ignore_punctuation = True
    clean_text = True

    user_persona = Persona(
        role="caller who has one question",
        name="Charlie",
        personality="You are curious and polite, and you keep it short.",
    )
    user_task = Task(goal="get an answer to your question")
    user_resources = Resources()

    agent_persona = Persona(
        role="assistant on the phone who answers questions of any kind",
        name="Lisa",
        personality="You are friendly, and you answer in one sentence.",
    )
    agent_task = Task(
        goal="answer the caller's question, save it with your answer, and end the call politely"
    )
    agent_actions = Actions(
        instructions=[
            "Greet the caller, say your name, and ask for the question.",
            "Save the question and your answer with SaveQuestionAnswerTool. Then say the answer, and ask "
            "whether there is another question.",
            "When the caller says goodbye, end the call with EndConversationTool.",
        ],
        guidelines=["Save the answer as short as it can be, with its unit if it has one."],
    )
    agent_resources = Resources(tools=TOOLS)

    def compute_is_successful(self, signals: Mapping[str, bool | float | None]) -> bool | Literal["N/A"]:
        if signals.get(SuccessSignal.JUDGE_PASSED.value) is None:
            return "N/A"
        return super().compute_is_successful(signals)


class WeatherQuestionBaseScenario(QuestionBaseScenario):
    """A caller asks for the weather, which Lisa looks up."""

    agent_actions = Actions(
        instructions=[
            "Greet the caller, say your name, and ask for the question.",
            "Look the weather up with GetCityWeatherTool.",
            "Save the question and your answer with SaveQuestionAnswerTool. Then say the answer, and ask "
            "whether there is another question.",
            "When the caller says goodbye, end the call with EndConversationTool.",
        ],
        guidelines=["Answer with all that the tool says: sky, temperature and UV index."],
    )
    agent_resources = Resources(tools=WEATHER_TOOLS)


def asking(question: str) -> Actions:
    """Return the steps of a caller who asks ``question`` and nothing else."""
    return Actions(
        instructions=[
            f"Ask, in these words: {question}",
            "When you have heard the answer, say that you have no other question, thank you and goodbye.",
        ],
        guidelines=["Ask nothing else, and do not say whether the answer is right."],
    )


def answered(question: str, answer: str) -> dict[str, str]:
    """Return a question and its answer as SaveQuestionAnswerTool reports them."""
    return {"question": question, "answer": answer}


GREETING = "This is Lisa speaking. What would you like to know?"
FAREWELL = "That is all I wanted to know. Thank you and goodbye."


def rehearse(
    reference: dict[str, str],
    spoken_answer: str,
    *looks: Use,
    greeting: str = GREETING,
    farewell: str = FAREWELL,
) -> Rehearsal:
    """Return the rehearsal of a question that Lisa answers with ``spoken_answer``, after ``looks``."""
    return Rehearsal(
        user=(Say(reference["question"]), Say(farewell)),
        agent=(
            Say(greeting),
            *looks,
            Use("SaveQuestionAnswerTool", reference),
            Say(f"{spoken_answer} Do you have another question?"),
            Use("EndConversationTool"),
        ),
    )


def weather_in(city: str) -> Use:
    """Return the look at the weather of ``city``."""
    return Use("GetCityWeatherTool", {"city_name": city})


WEATHER = "sunny, 20 degrees Celsius, with a low UV index"
