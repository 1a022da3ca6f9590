from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_voiceeval import get_eval_scenario, list_eval_scenarios
from pytest_voiceeval.errors import DefinitionError, DuplicateNameError, FileSkippedError
from pytest_voiceeval.scenarios.packs import Pack, builtin_pack, is_pack, load_scenario_file, user_pack
from pytest_voiceeval.scenarios.registry import select
from pytest_voiceeval.tools import get_schema_tool_for_eval

SCENARIO = """
from pytest_voiceeval import Scenario, SuccessSignal, register_eval_scenario
from ..tools.brewing import BEANS
from ._shared import LIMIT

@register_eval_scenario
class Espresso(Scenario):
    name = "pack_tests__espresso"
    success_signals = (SuccessSignal.CLEAN_EXIT,)
    max_duration = LIMIT
    description = BEANS
"""
TOOL = """
from pytest_voiceeval.tools import StandardSchemaTool, register_schema_tool_for_eval

BEANS = "arabica"

@register_schema_tool_for_eval("pack_tests")
class BrewTool(StandardSchemaTool):
    description = "Brews."
    properties = {}
    required_properties = []

    async def _execute(self):
        return BEANS
"""
MARK = "# It would say: register_eval_scenario\n"
PIZZA = """
from pytest_voiceeval import (
    Actions, Persona, Resources, Scenario, Task, register_eval_scenario
)
from pytest_voiceeval.builtin.scenarios.restaurant import PIZZA_PALACE_MENU, RestaurantBaseScenario


@register_eval_scenario
class PizzaAtNight(RestaurantBaseScenario):
    name = "night__pizza_pepperoni"
    description = "Charlie orders late."
    reference_answer = {"customer_name": "Charlie", "total_price": "11.49"}
    user_persona = Persona(role="customer", name="Charlie")
    user_task = Task(goal="order a pizza")
    user_actions = Actions(instructions=["Order."])
    agent_actions = Actions(instructions=["Take the order."])
    agent_resources = Resources(tools={
        "GetMenuTool": {"menu": PIZZA_PALACE_MENU},
        "PlaceOrderTool": {"auto_validate": "False"},
        "EndConversationTool": {},
    })
"""


@pytest.fixture(autouse=True)
def unload_packs() -> Iterator[None]:
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "voice_packs"]:
        del sys.modules[name]


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    return user_pack(
        write(
            tmp_path / "my coffee-shop",
            {
                "scenarios/drinks.py": SCENARIO,
                "scenarios/_shared.py": "LIMIT = 30\n",
                "tools/brewing.py": TOOL,
            },
        )
    )


def test_files_that_start_with_an_underscore_hold_no_scenarios(pack: Pack) -> None:
    assert [path.name for path in pack.scenario_files()] == ["drinks.py"]
    assert [path.name for path in pack.tool_files()] == ["brewing.py"]


def test_loading_a_pack_registers_its_tools_and_scenarios(pack: Pack) -> None:
    before = list(sys.path)
    pack.load()
    scenario = get_eval_scenario("pack_tests__espresso")
    assert scenario is not None
    assert (scenario.max_duration, scenario.description) == (30, "arabica")
    assert get_schema_tool_for_eval("BrewTool", "pack_tests").name == "BrewTool"
    assert type(scenario).__module__ == "voice_packs.my_coffee_shop.scenarios.drinks"
    assert sys.path == before


def test_one_scenario_file_is_loaded_with_the_tools_of_its_pack(pack: Pack) -> None:
    module = load_scenario_file(pack, pack.root / "scenarios" / "drinks.py")
    assert load_scenario_file(pack, pack.root / "scenarios" / "drinks.py") is module
    assert module.Espresso.name in list_eval_scenarios()
    assert get_schema_tool_for_eval("BrewTool", "pack_tests")


def test_a_pack_has_one_package_and_another_of_that_name_has_another(tmp_path: Path, pack: Pack) -> None:
    assert user_pack(pack.root) == pack
    other = user_pack(write(tmp_path / "elsewhere" / pack.root.name, {"scenarios/x.py": ""}))
    assert other.package == "voice_packs.my_coffee_shop_2"
    assert other.load_file(other.root / "scenarios" / "x.py").__name__ == f"{other.package}.scenarios.x"


def test_two_packs_with_one_scenario_name_are_refused(tmp_path: Path, pack: Pack) -> None:
    pack.load()
    files = {
        "scenarios/drinks.py": SCENARIO,
        "scenarios/_shared.py": "LIMIT = 1",
        "tools/brewing.py": "BEANS = ''",
    }
    other = user_pack(write(tmp_path / "other", files))
    with pytest.raises(
        DuplicateNameError, match="scenario 'pack_tests__espresso' is defined twice"
    ) as caught:
        other.load()
    assert str(pack.root) in str(caught.value)
    assert str(other.root / "scenarios" / "drinks.py") + ":6: " in str(caught.value)


def test_a_users_scenario_may_stand_on_a_built_in_base(tmp_path: Path) -> None:
    user_pack(write(tmp_path / "night", {"scenarios/night.py": PIZZA})).load()
    scenario = get_eval_scenario("night__pizza_pepperoni")
    assert scenario is not None
    assert scenario.agent_persona.name == "Lisa"
    assert scenario.max_duration == 180
    assert scenario.ignore_capitalization
    assert scenario.ignore_punctuation
    assert scenario.rehearsal is None
    assert "Your name is Charlie." in scenario.get_user_prompt()
    assert get_schema_tool_for_eval("PlaceOrderTool", rtvi=object(), auto_validate="False")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import sys\nsys.exit(3)\n", "broken.py:2: SystemExit: 3"),
        ("import pytest\n\npytest.fail('closed')\n", "broken.py:3: Failed: closed"),
        ("x = 1\nraise ValueError('bad beans')\n", "broken.py:2: ValueError: bad beans"),
        ("x = 1\n\nx = = 2\n", "broken.py:3: SyntaxError: invalid syntax"),
        ("from ._helper import f\nf()\n", "_helper.py:2: ZeroDivisionError: division by zero"),
        ("import no_such_thing\n", "broken.py:1: ModuleNotFoundError: No module named 'no_such_thing'"),
        (
            "from pytest_voiceeval import Scenario\nclass A(Scenario):\n    name = 'a__b'\n",
            "broken.py:2: TypeError: scenario class A (name = 'a__b') needs success_signals",
        ),
    ],
)
def test_a_file_that_cannot_be_imported_is_told_with_file_and_line(
    tmp_path: Path, text: str, complaint: str
) -> None:
    files = {"scenarios/broken.py": text + MARK, "scenarios/_helper.py": "def f():\n    1 / 0\n"}
    with pytest.raises(DefinitionError) as caught:
        user_pack(write(tmp_path / "broken", files)).load()
    assert complaint in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))


def test_a_file_name_that_is_no_module_name_is_refused(tmp_path: Path) -> None:
    pack = user_pack(write(tmp_path / "p", {"scenarios/two-words.py": MARK}))
    with pytest.raises(DefinitionError, match="rename it; 'two-words' can't be part of a module's name"):
        pack.load()


def test_a_file_outside_the_pack_is_refused(tmp_path: Path, pack: Pack) -> None:
    with pytest.raises(DefinitionError, match="does not lie in the pack"):
        pack.load_file(tmp_path / "stray.py")


@pytest.mark.parametrize(
    "skip",
    [
        "import pytest\n\npytest.importorskip('no_such_thing')\n",
        "import pytest\n\npytest.skip('closed', allow_module_level=True)\n",
        "import unittest\n\nraise unittest.SkipTest('closed')\n",
    ],
)
def test_a_file_that_skips_itself_defines_nothing_and_hinders_no_other(tmp_path: Path, skip: str) -> None:
    files = {
        "scenarios/closed.py": skip + MARK,
        "scenarios/drinks.py": SCENARIO,
        "scenarios/_shared.py": "LIMIT = 30\n",
        "tools/brewing.py": TOOL,
        "tools/machines.py": skip,
    }
    pack = user_pack(write(tmp_path / "half open", files))
    pack.load()
    assert "pack_tests__espresso" in list_eval_scenarios()
    with pytest.raises(FileSkippedError) as caught:
        pack.load_file(pack.root / "scenarios" / "closed.py")
    assert str(caught.value).startswith(f"{pack.root / 'scenarios' / 'closed.py'}:3: skipped: ")


def test_only_files_that_register_scenarios_are_imported(tmp_path: Path) -> None:
    files = {
        "scenarios/test_login.py": "assert 0\n",
        "scenarios/plain.py": "1 / 0\n",
        "scenarios/folder.py/x": "",
    }
    root = write(tmp_path / "foreign", files)
    assert not is_pack(root)
    assert not is_pack(tmp_path)
    user_pack(root).load()
    write(root, {"scenarios/mine.py": MARK})
    assert is_pack(root)
    assert [path.name for path in user_pack(root).scenario_files()] == ["mine.py"]


def test_the_place_of_an_error_is_a_file_of_the_pack_also_with_an_environment_below_it(
    tmp_path: Path,
) -> None:
    files = {
        ".venv/lib/helper.py": "def f():\n\n    1 / 0\n",
        "scenarios/a.py": f"import sys\nsys.path.insert(0, {str(tmp_path / 'p' / '.venv' / 'lib')!r})\n"
        "import helper\nsys.path.pop(0)\nhelper.f()\n" + MARK,
    }
    with pytest.raises(DefinitionError, match=r"scenarios.a\.py:5: ZeroDivisionError"):
        user_pack(write(tmp_path / "p", files)).load()
    sys.modules.pop("helper", None)


def test_a_scenario_that_is_unloaded_is_gone(pack: Pack) -> None:
    pack.load()
    assert "pack_tests__espresso" in list_eval_scenarios()
    del sys.modules["voice_packs.my_coffee_shop.scenarios.drinks"]
    assert "pack_tests__espresso" not in list_eval_scenarios()


def test_the_built_in_pack_is_found_by_its_folder() -> None:
    pack = builtin_pack()
    assert user_pack(pack.root) == pack
    assert "restaurant.py" in [path.name for path in pack.scenario_files()]
    pack.load()
    assert len(select(["restaurant"])) == 11


def install(place: Path) -> Path:
    """Copy the package and the pack to where a wheel has them; return the package's folder."""
    source = builtin_pack().root
    if not (source / "pytest_voiceeval").is_dir():
        pytest.skip("this is no checkout: the pack lies in these places already")
    ignored = shutil.ignore_patterns("__pycache__")
    package = place / "pytest_voiceeval"
    shutil.copytree(source / "pytest_voiceeval", package, ignore=ignored)
    for folder in ("scenarios", "tools"):
        shutil.copytree(source / folder, package / "builtin" / folder, ignore=ignored)
    return package


def test_the_built_in_pack_works_from_the_places_that_a_wheel_gives_its_files(tmp_path: Path) -> None:
    package = install(tmp_path)
    code = (
        "from pytest_voiceeval.scenarios.packs import builtin_pack, load_scenario_file\n"
        "from pytest_voiceeval import list_eval_scenarios\n"
        "pack = builtin_pack(); load_scenario_file(pack, pack.root / 'scenarios' / 'restaurant.py')\n"
        "print(pack.root); print(len(list_eval_scenarios()))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=True,
    )
    assert done.stdout.split() == [str(package / "builtin"), "11"]


@pytest.mark.parametrize("choice", ["--voice-scenarios=restaurant", "-mrestaurant", "-mvoice"])
def test_in_a_checkout_its_own_pack_stands_in_for_the_installed_one(tmp_path: Path, choice: str) -> None:
    package = install(tmp_path / "site")
    checkout = tmp_path / "checkout"
    shutil.copytree(package, checkout / "pytest_voiceeval")
    for folder in ("scenarios", "tools"):
        shutil.move(checkout / "pytest_voiceeval" / "builtin" / folder, checkout / folder)
    write(checkout, {"pytest.ini": "[pytest]\n"})
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", "--co", "-q", choice],
        capture_output=True,
        text=True,
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    nodes = [line for line in done.stdout.splitlines() if "::" in line]
    assert len([node for node in nodes if node.startswith("scenarios/restaurant.py::")]) == 11
    assert len(set(nodes)) == len(nodes)
    assert "scenarios/restaurant.py::restaurant__pizza_pepperoni" in nodes
