"""The script that measures costs names constants that there are."""

from benchmarks import costs as script
from qad.contract.plan import lower


def test_every_measure_is_of_a_constant(monkeypatch):
    monkeypatch.setattr(script, "SECONDS", 0.0)
    monkeypatch.setattr(script, "nanoseconds", lambda function: [function(), 1.0][1])
    names = [name for measure in script.MEASURES for name, _ in measure()]
    assert len(set(names)) == len(names) > 5
    assert all(getattr(lower, name) > 0 for name in names)
