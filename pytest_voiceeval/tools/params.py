"""Parameters of a tool as a pydantic model: the schema that a language model sees, and what it did wrong."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from pytest_voiceeval.errors import DefinitionError

_DEFINITIONS = "#/$defs/"
_HIDDEN = ("title", "$defs")


def parameter_properties(model: type[BaseModel]) -> dict[str, Any]:
    """Return the ``properties`` object of the JSON Schema of ``model``: self-contained, without titles.

    A parameter that may be null is described by its other type alone.

    Raises:
        DefinitionError: if the model contains itself.
    """
    return copy.deepcopy(_schema(model)[0])


def required_parameters(model: type[BaseModel]) -> list[str]:
    """Return the names of the parameters that have no default, in order."""
    return list(_schema(model)[1])


def error_details(error: ValidationError) -> list[dict[str, str]]:
    """Return ``field`` (dotted path), ``error`` and ``type`` of each fault of the arguments, in order."""
    return [
        {"field": ".".join(map(str, fault["loc"])), "error": fault["msg"], "type": fault["type"]}
        for fault in error.errors(include_url=False, include_context=False, include_input=False)
    ]


@cache
def _schema(model: type[BaseModel]) -> tuple[dict[str, Any], list[str]]:
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    properties = {
        name: _inlined(part, definitions, ()) for name, part in schema.get("properties", {}).items()
    }
    return properties, schema.get("required", [])


def _inlined(node: Any, definitions: dict[str, Any], above: tuple[str, ...]) -> Any:
    """Return ``node`` with every reference replaced by what it refers to; ``above`` leads to it."""
    if isinstance(node, list):
        return [_inlined(element, definitions, above) for element in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str):
        name = reference.removeprefix(_DEFINITIONS)
        if name in above:
            raise DefinitionError(f"parameter model {name} contains itself; a tool's parameters are finite")
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _inlined({**definitions[name], **beside}, definitions, (*above, name))
    alternatives = [part for part in node.get("anyOf", ()) if part != {"type": "null"}]
    if len(alternatives) == 1:
        beside = {key: value for key, value in node.items() if key not in ("anyOf", "default")}
        return _inlined({**alternatives[0], **beside}, definitions, above)
    return {key: _member(key, value, definitions, above) for key, value in node.items() if key not in _HIDDEN}


def _member(key: str, value: Any, definitions: dict[str, Any], above: tuple[str, ...]) -> Any:
    if key == "properties":  # here keys are names of parameters, also one that is called "title"
        return {name: _inlined(part, definitions, above) for name, part in value.items()}
    return _inlined(value, definitions, above)
