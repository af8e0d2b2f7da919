"""The script that measures passes: every pass is left out, and where that changes no program nothing is timed."""

import numpy as np
import pytest

import qad
from benchmarks import ablation
from qad.frozen import passes


def rotation():
    frozen = qad.freeze(lambda x: np.sum(np.sin(x) * np.sin(x)))
    return lambda: frozen(np.ones(3))


def test_variants():
    left = ablation.variants()
    assert set(left) == {ablation.WHOLE, ablation.ONLY, ablation.NONE, *passes.PASSES} - {ablation.BASE}
    assert left["common"] == tuple(name for name in passes.PASSES if name != "common")


def test_figures_and_table():
    before = passes.PASSES
    found = ablation.measure(rotation, ablation.variants(), rounds=2, first=1)
    assert passes.PASSES is before
    assert found["traces"][:2] == (None, None)  # which changes nothing here
    assert found["common"][1] > 0 and found["traces"][3] > 0
    assert found[ablation.WHOLE][1] == found[ablation.WHOLE][3] == 1
    table = ablation.table({"a sum": found}).splitlines()
    assert len({line.count("|") for line in table}) == 1
    assert "–, " in table[2] and table[-1].startswith("| lines")


@pytest.mark.parametrize(
    "module", [pytest.param(name, marks=[pytest.mark.slow] * (name == "contraction")) for name in ablation.MODULES]
)
def test_rows_are_frozen_functions(module, monkeypatch):
    monkeypatch.setattr(ablation, "MODULES", (module,))
    rows = list(ablation.of_benchmarks())
    assert len(dict(rows)) == len(rows) > 0
    if module == "freeze":
        freeze = dict(rows)["freeze: polynomial"]
        assert len(ablation.programs(freeze, passes.PASSES)) == 1
