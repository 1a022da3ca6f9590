"""``--voice-list`` and ``--voice-list-domains``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.plugin.selection import by_option, catalogue_of
from pytest_voiceeval.plugin.settings import Settings
from pytest_voiceeval.world.roots import use_data_root


def listing(config: pytest.Config) -> Iterator[str]:
    """Yield the lines that the options ask for, about the scenarios that ``--voice-scenarios`` selects."""
    from pytest_voiceeval.scenarios import registry  # noqa: PLC0415 - heavy

    settings = Settings.from_config(config)
    use_data_root(settings.data_root)
    catalogue = catalogue_of(config, settings)
    try:
        chosen = by_option(settings.scenarios or ("all",), catalogue)
    except DefinitionError as exc:
        raise pytest.UsageError(str(exc)) from exc
    sys.stderr.writelines(f"{reason}\n" for reason in catalogue.skipped.values())
    scenarios = [
        name
        for name, entry in catalogue.scenarios().items()
        if entry.path in chosen
        and ((names := chosen[entry.path]) is None or name in names)
        and (settings.shard is None or settings.shard.holds(name))
    ]
    if config.getoption("voice_list_domains"):
        for domain, count in Counter(map(registry.scenario_domain, scenarios)).items():
            yield f"{domain}  {count} scenario{'s' if count != 1 else ''}"
        return
    width = max(map(len, scenarios), default=0)
    for name in scenarios:
        cls = registry.scenario_class(name)
        description = cls.description if cls and isinstance(cls.description, str) else ""
        yield f"{name:<{width}}  {description}".rstrip()
