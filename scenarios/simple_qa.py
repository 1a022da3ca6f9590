"""Simple questions: three scenarios without a domain in their names; the file is what they are chosen by.

As with qa, a judge is needed.
"""

from __future__ import annotations

from pytest_voiceeval import Persona, Task, register_eval_scenario

from ._qa_base import (
    WEATHER,
    QuestionBaseScenario,
    WeatherQuestionBaseScenario,
    answered,
    asking,
    rehearse,
    weather_in,
)

__all__ = ["QuestionBaseScenario", "WeatherQuestionBaseScenario"]

THE_BOOK = (
    "In the novel The Hitchhiker's Guide to the Galaxy by Douglas Adams, a computer is asked for the answer "
    "to the ultimate question of life, the universe and everything. After millions of years it says: 42."
)
ANSWERING = "answer the caller's question, save it with your answer, and end the call politely"
IN_SAN_FRANCISCO = "What is the weather in San Francisco?"


@register_eval_scenario
class SimpleQuestion1(QuestionBaseScenario):
    name = "simple_qa_1"
    description = "What is the answer to the ultimate question of life, the universe and everything?"
    reference_answer = answered(
        "What is the answer to the ultimate question of life, the universe and everything?", "42"
    )
    user_task = Task(goal="hear whether the agent knows the answer that the book gives", background=THE_BOOK)
    user_actions = asking(reference_answer["question"])
    agent_task = Task(goal=ANSWERING, background=THE_BOOK)
    rehearsal = rehearse(reference_answer, "In that book the answer is 42.")


@register_eval_scenario
class SimpleQuestion2(QuestionBaseScenario):
    name = "simple_qa_2"
    description = "How much is one plus one?"
    reference_answer = answered("How much is one plus one?", "2")
    user_actions = asking(reference_answer["question"])
    rehearsal = rehearse(reference_answer, "One plus one is two.")


@register_eval_scenario
class SimpleQuestion3(WeatherQuestionBaseScenario):
    """Both prompts are written by hand, as an example of how that is done."""

    name = "simple_qa_3"
    description = "What is the weather in San Francisco?"
    reference_answer = answered(IN_SAN_FRANCISCO, WEATHER)
    user_persona = Persona(role="caller who has one question", name="Bob")
    user_actions = asking(IN_SAN_FRANCISCO)
    rehearsal = rehearse(
        reference_answer,
        "It is sunny in San Francisco, at 20 degrees Celsius and with a low UV index.",
        weather_in("San Francisco"),
    )

    def get_user_prompt(self) -> str:
        return f"""\
You are Bob, and you are on the phone with an assistant who answers questions.
Ask this, in these words: {IN_SAN_FRANCISCO}
Ask nothing else. When you have the answer, say that this is all, thank you and goodbye.

{self.general_prompt.strip()}"""

    def get_agent_prompt(self) -> str:
        return f"""\
You are Lisa, an assistant who answers questions on the phone.
Greet the caller and ask for the question. If it is about the weather, look it up with GetCityWeatherTool.
Save the question and your answer with SaveQuestionAnswerTool, then say the answer. To an answer about the
weather belong the sky, the temperature and the UV index.
When the caller says goodbye, end the call with EndConversationTool.

{self.general_prompt.strip()}"""
