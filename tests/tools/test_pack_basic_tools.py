from __future__ import annotations

from typing import Any

import pytest

from pytest_voiceeval.tools import get_schema_tool_for_eval

pytestmark = pytest.mark.usefixtures("builtin_tools")


@pytest.mark.parametrize("city", ["San Francisco", "Zürich", ""])
def test_the_weather_is_the_same_in_every_city(call: Any, city: str) -> None:
    weather = {"weather": "sunny", "temperature": "20 degrees Celsius", "uv_index": "low"}
    assert call(get_schema_tool_for_eval("GetCityWeatherTool"), city_name=city) == [
        ("result", {"city": city, **weather})
    ]


def test_the_weather_of_no_city_is_that_of_null(call: Any) -> None:
    [(_, result)] = call(get_schema_tool_for_eval("GetCityWeatherTool"))
    assert result["city"] is None


def test_an_answer_is_reported_with_its_question_before_the_result(call: Any, rtvi: Any) -> None:
    tool = get_schema_tool_for_eval("SaveQuestionAnswerTool", rtvi=rtvi)
    assert call(tool, question="Who wrote Émile?", answer="Rousseau") == [
        (
            "message",
            {
                "text": '<final_response>{"question": "Who wrote \\u00c9mile?", "answer": "Rousseau"}'
                "</final_response>"
            },
        ),
        ("result", {"success": True, "message": "Question and answer logged."}),
    ]


def test_what_is_missing_of_an_answer_is_reported_as_null(call: Any, rtvi: Any) -> None:
    [(_, data), _] = call(get_schema_tool_for_eval("SaveQuestionAnswerTool", rtvi=rtvi))
    assert data["text"] == '<final_response>{"question": null, "answer": null}</final_response>'


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("GetCityWeatherTool", ["city_name"]), ("SaveQuestionAnswerTool", ["question", "answer"])],
)
def test_all_parameters_are_texts_and_required(name: str, parameters: list[str], rtvi: Any) -> None:
    schema = get_schema_tool_for_eval(name, rtvi=rtvi).schema()
    assert schema["required"] == list(schema["properties"]) == parameters
    assert {part["type"] for part in schema["properties"].values()} == {"string"}
