"""The table of variational Monte Carlo, and what it refuses."""

import json

import pytest

from benchmarks import vmc


def found(mean, error=0.01, step=1.0):
    told = [{"imported": [1.0, 2.0], "step": [s, s], "memory": 2**30} for s in (9.0, step, 3 * step)]
    return vmc.entry(told, {"mean": mean, "error": error})


def test_an_entry_has_the_first_step_and_the_least_of_the_later_ones():
    x = found(-50.0)
    assert (x["first"], x["step"], x["median"], x["import"]) == ([9.0, 9.0], 1.0, 2.0, [1.0, 2.0])


def test_energies_have_to_agree():
    vmc.agree("ring", {"qad": found(-50.0), "NetKet": found(-50.05)})
    with pytest.raises(RuntimeError, match=r"NetKet finds -50\.5, qad -50\.0"):
        vmc.agree("ring", {"qad": found(-50.0), "NetKet": found(-50.5)})


def test_the_table_has_the_quicker_way_to_drive_netket():
    line = {"qad": found(-50.0), "NetKet, 16 chains": found(-50.0, step=3.0), "NetKet, a chain a sample": found(-50.0)}
    text = vmc.section({"lines": {"ring": line}, "environment": {**FACTS}})
    assert "a chain a sample" in text and "| NetKet, 16 chains" not in text
    assert "| 1.00 s (2.00 s) |  1.00 |" in text


FACTS = {"versions": {"netket": "3"}, "python": "3", "system": "Linux", "machine": "x"}


def test_the_table_says_what_was_kept():
    kept = json.loads(vmc.KEPT.read_text("utf-8"))
    assert list(kept["lines"]) == list(vmc.LINES)
    assert vmc.section(kept).count("\n| ") == 2 + 2 * len(vmc.LINES)
