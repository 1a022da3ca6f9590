"""Questions: callers ask one question each, and a judge says whether the answer is right.

Without a judge these scenarios are skipped: there is nothing else to tell a right answer by.
"""

from __future__ import annotations

from pytest_voiceeval import register_eval_scenario

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


@register_eval_scenario
class CapitalFrance(QuestionBaseScenario):
    name = "qa__capital_france"
    description = "What is the capital of France?"
    reference_answer = answered("What is the capital of France?", "Paris")
    user_actions = asking(reference_answer["question"])
    rehearsal = rehearse(reference_answer, "The capital of France is Paris.")


@register_eval_scenario
class MathAddition(QuestionBaseScenario):
    name = "qa__math_addition"
    description = "How much is 15 plus 27?"
    reference_answer = answered("How much is 15 plus 27?", "42")
    user_actions = asking(reference_answer["question"])
    rehearsal = rehearse(reference_answer, "15 plus 27 is 42.")


@register_eval_scenario
class SpeedOfLight(QuestionBaseScenario):
    name = "qa__speed_of_light"
    description = "How fast does light travel in empty space?"
    reference_answer = answered(
        "How fast does light travel in empty space?",
        "299,792,458 meters per second, or about 300,000 kilometers per second",
    )
    user_actions = asking(reference_answer["question"])
    rehearsal = rehearse(
        reference_answer, "Light travels at about three hundred thousand kilometers per second."
    )


@register_eval_scenario
class MoonLanding(QuestionBaseScenario):
    name = "qa__moon_landing"
    description = "In which year did people first land on the moon?"
    reference_answer = answered("In which year did people first land on the moon?", "1969")
    user_actions = asking(reference_answer["question"])
    rehearsal = rehearse(reference_answer, "People first landed on the moon in nineteen sixty nine.")


@register_eval_scenario
class RomeoAndJuliet(QuestionBaseScenario):
    name = "qa__romeo_and_juliet"
    description = "Who wrote the play Romeo and Juliet?"
    reference_answer = answered("Who wrote the play Romeo and Juliet?", "William Shakespeare")
    user_actions = asking(reference_answer["question"])
    rehearsal = rehearse(reference_answer, "The play was written by William Shakespeare.")


@register_eval_scenario
class WeatherSanFrancisco(WeatherQuestionBaseScenario):
    name = "qa__weather_san_francisco"
    description = "What is the weather like in San Francisco?"
    reference_answer = answered("What is the weather like in San Francisco?", WEATHER)
    user_actions = asking(reference_answer["question"])
    rehearsal = rehearse(
        reference_answer,
        "It is sunny there and 20 degrees Celsius, with a low UV index.",
        weather_in("San Francisco"),
    )


@register_eval_scenario
class WeatherNewYork(WeatherQuestionBaseScenario):
    name = "qa__weather_new_york"
    description = "How is the weather in New York today?"
    reference_answer = answered("How is the weather in New York today?", WEATHER)
    user_actions = asking(reference_answer["question"])
    rehearsal = rehearse(
        reference_answer,
        "It is a sunny day with 20 degrees Celsius, and the UV index is low.",
        weather_in("New York"),
    )


@register_eval_scenario
class MathWordProblem(QuestionBaseScenario):
    name = "qa__math_word_problem"
    description = "I have 12 apples and give 5 of them away. How many are left?"
    reference_answer = answered("I have 12 apples and give 5 of them away. How many are left?", "7 apples")
    user_actions = asking(reference_answer["question"])
    rehearsal = rehearse(reference_answer, "You have 7 apples left.")


@register_eval_scenario
class LargestOcean(QuestionBaseScenario):
    name = "qa__largest_ocean"
    description = "Which ocean is the largest in the world?"
    reference_answer = answered("Which ocean is the largest in the world?", "the Pacific Ocean")
    user_actions = asking(reference_answer["question"])
    rehearsal = rehearse(reference_answer, "The Pacific Ocean is the largest of all.")


@register_eval_scenario
class TelephoneInventor(QuestionBaseScenario):
    name = "qa__telephone_inventor"
    description = "Who is known as the inventor of the telephone?"
    reference_answer = answered("Who is known as the inventor of the telephone?", "Alexander Graham Bell")
    user_actions = asking(reference_answer["question"])
    rehearsal = rehearse(reference_answer, "That was Alexander Graham Bell.")
