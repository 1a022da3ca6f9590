"""Tools of question lines: the weather of a city, and the answer that was given to a question."""

from __future__ import annotations

from typing import Any

from pytest_voiceeval.tools import (
    SendScenarioSummaryTool,
    StandardSchemaTool,
    register_schema_tool_for_eval,
)


@register_schema_tool_for_eval
class GetCityWeatherTool(StandardSchemaTool):
    """Returns the same fine weather for every city, so that an answer can be checked."""

    description = "Get the present weather in a city: sky, temperature and UV index."

    @property
    def properties(self) -> dict[str, Any]:
        return {"city_name": {"type": "string", "description": "Name of the city, such as Oslo."}}

    @property
    def required_properties(self) -> list[str]:
        return ["city_name"]

    async def _execute(self, city_name: str | None = None) -> dict[str, Any]:
        return {
            "city": city_name,
            "weather": "sunny",
            "temperature": "20 degrees Celsius",
            "uv_index": "low",
        }


@register_schema_tool_for_eval
class SaveQuestionAnswerTool(SendScenarioSummaryTool):
    """Reports a question and the answer that it got as the outcome of the call."""

    description = "Save a question of the caller together with the answer that you gave to it."

    @property
    def properties(self) -> dict[str, Any]:
        return {
            "question": {"type": "string", "description": "The question as the caller asked it."},
            "answer": {"type": "string", "description": "The answer as you gave it."},
        }

    @property
    def required_properties(self) -> list[str]:
        return ["question", "answer"]

    async def _execute(self, question: str | None = None, answer: str | None = None) -> dict[str, Any]:
        await self._send_summary({"question": question, "answer": answer})
        return {"success": True, "message": "Question and answer logged."}
