"""Tools by domain and name, and their construction by what a constructor asks for."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar, overload

from pytest_voiceeval.errors import DefinitionError, DuplicateNameError, UnknownNameError
from pytest_voiceeval.model.nearest import nearest
from pytest_voiceeval.tools.base import StandardSchemaTool
from pytest_voiceeval.tools.origin import Origin

logger = logging.getLogger(__name__)

DEFAULT_DOMAIN = "default"
INJECTED = ("rtvi", "shared_state")
CONTROL_TOOLS = "pytest_voiceeval.tools.control"
"""Where the tools are that scenarios of every domain use."""

T = TypeVar("T", bound=type)

_KEPT_SIGNATURES = 512


@dataclass(frozen=True)
class _Entry:
    cls: type[StandardSchemaTool]
    origin: Origin


_domains: dict[str, dict[str, _Entry]] = {}


@overload
def register_schema_tool_for_eval(domain: T) -> T: ...
@overload
def register_schema_tool_for_eval(domain: str = DEFAULT_DOMAIN) -> Callable[[T], T]: ...
def register_schema_tool_for_eval(domain: Any = DEFAULT_DOMAIN) -> Any:
    """Register a tool class: ``@register_schema_tool_for_eval``, ``…("coffee")`` or ``…(domain="coffee")``.

    Raises:
        DuplicateNameError: if another class has that name in that domain.
        DefinitionError: if the class is not a ``StandardSchemaTool``.
    """
    if isinstance(domain, str):
        return lambda cls: _register(cls, domain)
    return _register(domain, DEFAULT_DOMAIN)


def _register(cls: T, domain: str) -> T:
    if not (isinstance(cls, type) and issubclass(cls, StandardSchemaTool)):
        raise DefinitionError(f"{cls!r} is no tool: derive the class from StandardSchemaTool")
    name = tool_name(cls)
    origin = Origin.of(cls)
    present = _entries(domain).get(name)
    if present and not origin.is_the_same_definition(present.origin):
        raise DuplicateNameError(
            f"tool '{name}' of domain '{domain}' is defined twice: {origin}, and before that "
            f"{present.origin}; rename one of them, or give it another domain"
        )
    _domains.setdefault(domain, {})[name] = _Entry(cls, origin)
    return cls


def _entries(domain: str) -> dict[str, _Entry]:
    """Return the tools of ``domain`` whose modules are still imported."""
    return {name: entry for name, entry in _domains.get(domain, {}).items() if entry.origin.is_loaded}


def _find(name: str, domain: str) -> _Entry | None:
    entry = _domains.get(domain, {}).get(name)
    return entry if entry and entry.origin.is_loaded else None


@lru_cache(_KEPT_SIGNATURES)
def _parameters(cls: type[StandardSchemaTool]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(cls).parameters


def tool_name(cls: type[StandardSchemaTool]) -> str:
    """Return the name that ``cls`` is registered by: its ``name``, else the name of the class."""
    return cls.name if isinstance(cls.name, str) and cls.name else cls.__name__


def find_tool(name: str, domain: str = DEFAULT_DOMAIN) -> type[StandardSchemaTool] | None:
    """Return the tool class of that name in ``domain``, else in the default domain, else ``None``."""
    for place in (domain, DEFAULT_DOMAIN):
        if entry := _find(name, place):
            return entry.cls
    return None


def get_schema_tool_for_eval(
    name: str,
    domain: str = DEFAULT_DOMAIN,
    rtvi: Any = None,
    shared_state: dict[str, Any] | None = None,
    **kwargs: Any,
) -> StandardSchemaTool:
    """Return a new tool; ``rtvi`` and ``shared_state`` go only to a constructor that names them.

    Raises:
        UnknownNameError: (a ``KeyError``) if neither ``domain`` nor the default domain has the tool.
        TypeError: if the constructor does not take one of ``kwargs``.
    """
    cls = find_tool(name, domain)
    if cls is None:
        raise UnknownNameError(unknown_tool_message(name, domain))
    if _find(name, domain) is None and cls.__module__ != CONTROL_TOOLS:
        logger.warning("no tool '%s' in domain '%s'; the one of domain 'default' is taken", name, domain)
    wanted = _parameters(cls)
    offered = {"rtvi": rtvi, "shared_state": shared_state}
    injected = {key: offered[key] for key in INJECTED if key in wanted}
    return cls(**injected, **kwargs)


def constructor_arguments(cls: type[StandardSchemaTool]) -> list[str] | None:
    """Return the arguments that a scenario may give to ``cls``; ``None`` if it takes any."""
    parameters = _parameters(cls)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return None
    return [name for name in parameters if name not in INJECTED]


def unknown_tool_message(name: str, domain: str) -> str:
    """Return the message for a tool that is not there: the nearest names, then all there are."""
    own = list_schema_tools_for_eval(domain)
    default = list_schema_tools_for_eval(DEFAULT_DOMAIN)
    near = nearest(name, own + default)
    hint = "; did you mean " + " or ".join(f"'{n}'" for n in near) + "?" if near else "."
    text = f"no tool '{name}' in domain '{domain}'{hint} Available in '{domain}': {_listed(own)}."
    if domain != DEFAULT_DOMAIN:
        text += f" Available in '{DEFAULT_DOMAIN}': {_listed(default)}."
    return text


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def list_schema_tools_for_eval(domain: str | None = None) -> list[str]:
    """Return the names of one domain in order of registration; of all, as ``domain.name``."""
    if domain is not None:
        return list(_entries(domain))
    return [f"{place}.{name}" for place in _domains for name in list_schema_tools_for_eval(place)]
