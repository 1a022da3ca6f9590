from __future__ import annotations

import golden_files as golden
import pytest


@pytest.mark.parametrize("case", golden.cases("get_dict_hash"))
def test_hash_is_that_of_the_reference(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_get_dict_hash)


@pytest.mark.parametrize("case", golden.cases("normalize_for_comparison"))
def test_normal_form_is_that_of_the_reference(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_normalize_for_comparison)


@pytest.mark.parametrize("case", golden.cases("compute_db_diff"))
def test_diff_is_that_of_the_reference(case: golden.Case) -> None:
    golden.assert_holds(case, golden.run_compute_db_diff)
