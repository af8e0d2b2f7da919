"""docs/numpy.md says what is so, of every function of NumPy."""

import importlib.util
import inspect
from pathlib import Path

import numpy as np
import pytest

import qad
from qad.core.tape.dispatch import FUNCTIONS, UFUNCS

DOCS = Path(__file__).parents[1] / "docs"
spec = importlib.util.spec_from_file_location("numpy_table", DOCS / "numpy_table.py")
table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(table)


def test_every_function_is_decided():
    """Whatever the version of NumPy: a rule, a way through, a refusal, or a reason why no Tensor comes."""
    undecided = [
        f"{title}.{name}"
        for title, module in table.MODULES.items()
        for name, f in table.functions(module)
        if f not in UFUNCS and f not in FUNCTIONS and name not in {**table.WHY, **table.CALLS}
    ]
    assert not undecided


def test_the_page_is_in_step():
    text = table.PAGE.read_text("utf-8")
    if f"NumPy {'.'.join(np.__version__.split('.')[:2])}," not in text:
        pytest.skip("the page was made with another version of NumPy")
    assert text == table.page(), "run python docs/numpy_table.py"


@pytest.mark.parametrize("f", table.REFUSED, ids=lambda f: f.__name__)
def test_what_is_refused_says_what_to_write(f):
    x = qad.tensor(np.ones((2, 2)), requires_grad=True)
    needed = [p for p in inspect.signature(f).parameters.values() if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
    args = ("a file", x) if f.__name__.startswith("save") else (x,) * len(needed)
    with pytest.raises(qad.QadError, match=r"write|x\.numpy"):
        f(*args)
