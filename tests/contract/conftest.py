"""What tests of contractions share: a count of the multiply-adds that are really executed."""

import numpy as np
import pytest

from qad.contract.plan.planner import find_plan
from qad.contract.run import pair as pair_module
from qad.contract.run.execute import execution


class Counter:
    """Counts the multiply-adds of pairs that are really executed, from the shapes that arrive."""

    def __init__(self, monkeypatch):
        self.total = 0
        original = pair_module.Pair.__init__
        counter = self

        def watched(self, labels, shapes):
            original(self, labels, shapes)
            run = self.run

            def counted(a, b):
                sizes = {
                    label: size
                    for term, x in zip(labels, (a, b), strict=False)
                    for label, size in zip(term, np.shape(x), strict=True)
                }
                counter.total += int(np.prod(list(sizes.values()), dtype=np.int64))
                return run(a, b)

            self.run = counted

        monkeypatch.setattr(pair_module.Pair, "__init__", watched)
        forget()


def forget():
    """Clear what holds pairs."""
    for cached in (pair_module._pair, find_plan, execution):
        cached.cache_clear()


@pytest.fixture
def counter(monkeypatch):
    yield Counter(monkeypatch)
    monkeypatch.undo()
    forget()
