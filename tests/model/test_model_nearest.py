from __future__ import annotations

from pytest_voiceeval.model.nearest import nearest


def test_names_are_alike_whatever_their_case() -> None:
    assert nearest("getmenu", ["PlaceOrderTool", "GetMenuTool"]) == ["GetMenuTool"]
    assert nearest("RESTAURANT", ["qa", "restaurant", "restaurants"]) == ["restaurant", "restaurants"]
    assert nearest("restaurants", ["Restaurant"], cutoff=1.0) == []


def test_no_more_are_told_than_asked_for_and_each_once() -> None:
    known = ["tea1", "tea2", "tea3", "tea4", "tea1"]
    assert nearest("tea", known, most=1) == ["tea4"]
    assert sorted(nearest("tea", known, most=9)) == ["tea1", "tea2", "tea3", "tea4"]
    assert nearest("tea", []) == []
