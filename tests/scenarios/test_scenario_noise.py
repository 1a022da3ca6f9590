from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_voiceeval.errors import DefinitionError
from pytest_voiceeval.model.parts import NoiseConfig
from pytest_voiceeval.model.signals import SuccessSignal
from pytest_voiceeval.scenarios.base import Scenario
from pytest_voiceeval.scenarios.noise import noise_files, noise_of
from pytest_voiceeval.scenarios.packs import user_pack
from pytest_voiceeval.scenarios.registry import named_scenario_class
from pytest_voiceeval.scenarios.saving import metadata


class Plain(Scenario):
    name = "noise__plain"
    success_signals = (SuccessSignal.CLEAN_EXIT,)


def noisy(noise: Any) -> Scenario:
    return Plain(noise_config=noise)


WHITE = {"random_white_noise": True}


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({}, "there is no noise in it; name noise_files, or set random_white_noise=True"),
        ({"noise_files": " , "}, "there is no noise in it"),
        ({"noise_files": []}, "there is no noise in it"),
        (WHITE | {"gain_db": "3"}, "gain_db is '3'; write a number of dB"),
        (WHITE | {"gain_db": None}, "gain_db is None; write a number of dB"),
        (WHITE | {"gain_db": math.inf}, "gain_db is inf; write a number of dB"),
        (WHITE | {"gain_db": True}, "gain_db is True; write a number of dB"),
        (WHITE | {"white_noise_db": 3.0}, "white_noise_db is 3.0; full scale is 0"),
        (WHITE | {"white_noise_db": math.nan}, "white_noise_db is nan; write a number of dB"),
        (WHITE | {"snr_db": "high"}, "snr_db is 'high'; write a number of dB"),
        (WHITE | {"snr_db": 10, "gain_db": 3}, "snr_db and gain_db both say how loud the noise is"),
        (WHITE | {"max_noise_duration": 0}, "max_noise_duration is 0; write a number of seconds"),
        (WHITE | {"seed": -1}, "seed is -1; write a whole number"),
        (WHITE | {"seed": 1.5}, "seed is 1.5; write a whole number"),
        ({"noise_file": "a.wav"}, "it has no field 'noise_file'; there are: noise_files, gain_db"),
        ("loud", "it is 'loud'; write NoiseConfig(…), or None"),
    ],
)
def test_what_is_wrong_is_told_with_the_place_of_the_scenario(fields: Any, fault: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        noise_of(noisy(fields))
    place, _, text = str(caught.value).partition(": noise_config of scenario 'noise__plain': ")
    assert place == f"tests/scenarios/test_scenario_noise.py:{place.rpartition(':')[2]}"
    assert place.rpartition(":")[2].isdecimal()
    assert text.startswith(fault)


def test_noise_that_is_right_is_taken_as_object_or_as_dict() -> None:
    assert noise_of(noisy(None)) is None
    assert noise_of(noisy(WHITE)) == noise_of(noisy(NoiseConfig(random_white_noise=True)))
    assert noise_of(noisy(WHITE | {"white_noise_db": None, "snr_db": -5, "seed": 0})) is not None


def test_the_class_may_declare_it_and_a_base_too() -> None:
    class Loud(Plain):
        noise_config = NoiseConfig(random_white_noise=True)

    class Row(Loud):
        name = "noise__row"

    assert noise_of(Row()) == Loud.noise_config


def test_metadata_has_the_six_fields_of_the_reference_and_ours_where_they_are_set() -> None:
    six = ["noise_files", "gain_db", "max_noise_duration", "random_offset"]
    six += ["random_white_noise", "white_noise_db"]
    assert list(metadata(noisy(WHITE))["noise_config"]) == six
    config = NoiseConfig(random_white_noise=True, snr_db=5.0, seed=0)
    assert list(metadata(noisy(config))["noise_config"]) == [*six, "snr_db", "seed"]
    assert metadata(noisy(None))["noise_config"] is None


PACK = """
from pytest_voiceeval import NoiseConfig, Scenario, SuccessSignal, register_eval_scenario

@register_eval_scenario
class Cafe(Scenario):
    name = "noisepack__cafe"
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    noise_config = NoiseConfig(noise_files="noise/cafe.wav")
"""


def test_a_relative_file_is_one_of_the_packs_data_then_of_the_data_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cafes" / "scenarios" / "cafe.py"
    path.parent.mkdir(parents=True)
    path.write_text(PACK, encoding="utf-8")
    pack = user_pack(tmp_path / "cafes")
    pack.load_file(path)
    (tmp_path / "root").mkdir()
    monkeypatch.setenv("EVAL_DATA_ROOT", str(tmp_path / "root"))
    try:
        scenario = named_scenario_class("noisepack__cafe")()
        config = scenario.noise_config
        assert config is not None
        with pytest.raises(DefinitionError) as caught:
            noise_of(scenario)
        assert str(caught.value).startswith(f"{path}:4: noise_config of scenario 'noisepack__cafe': no file")
        assert f"{tmp_path / 'cafes' / 'data'}, {tmp_path / 'root'}, " in str(caught.value)
        for folder in (tmp_path / "root", tmp_path / "cafes" / "data"):
            (folder / "noise").mkdir(parents=True)
            (folder / "noise" / "cafe.wav").write_bytes(b"")
            assert noise_files(scenario, config) == [folder / "noise" / "cafe.wav"]
    finally:
        for name in [name for name in sys.modules if name.startswith(pack.package)]:
            del sys.modules[name]
