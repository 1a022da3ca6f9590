from __future__ import annotations

from typing import Any

import pytest

from pytest_voiceeval.tools import get_schema_tool_for_eval, list_schema_tools_for_eval
from pytest_voiceeval.tools.registry import find_tool

pytestmark = pytest.mark.usefixtures("builtin_tools")


def test_the_default_namespace_has_the_documented_twenty_tools() -> None:
    ours = [name for name in list_schema_tools_for_eval("default") if _is_built_in(name)]
    assert len(ours) == 20
    assert set(ours) == {
        *("SendRTVIMessageTool", "SendScenarioSummaryTool", "SendExitMessageTool", "EndConversationTool"),
        *("GetCityWeatherTool", "ReadFileTool", "SaveQuestionAnswerTool", "PlaceOrderTool", "GetMenuTool"),
        *("JoinWaitListTool", "DropWaitListTool", "GetWaitlistTool"),
        *("LookupAccountTool", "CheckOrderStatusTool", "ProcessRefundTool", "StartItemReturnTool"),
        *("ChangePlanTool", "UnlockAccountTool", "CancelSubscriptionTool", "ResolveTicketTool"),
    }


def _is_built_in(name: str) -> bool:
    """Return whether no test has registered it."""
    cls = find_tool(name, "default")
    return cls is not None and cls.__module__.startswith("pytest_voiceeval.")


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
