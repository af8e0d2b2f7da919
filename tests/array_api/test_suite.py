"""The list of what the public conformance suite may not pass: every reason in it still holds."""

import re
from pathlib import Path

import numpy as np
import pytest

import qad

xp = qad.array_api
LIST = Path(__file__).with_name("suite_xfails.txt").read_text().splitlines()


def refuses_imaginary_parts():
    for f in (xp.sum, xp.prod, xp.cumulative_sum, xp.cumulative_prod):
        with pytest.raises(qad.errors.GradientTypeError, match=r"x\.real"):
            f(xp.asarray([1j]), dtype=xp.float32)


def floors_as_python_does():
    with np.errstate(invalid="ignore"):
        assert xp.isnan(xp.floor_divide(xp.asarray(np.inf), 2.0))
    assert xp.floor_divide(xp.asarray(1.0), -np.inf) == -1.0 == 1.0 // -np.inf


def takes_values_of_numpy():
    z = np.array([complex(np.inf, 0), complex(-np.inf, np.inf), complex(np.inf, np.nan), complex(np.inf, 2)])
    with np.errstate(all="ignore"):
        for f in ("expm1", "tanh", "sign"):
            np.testing.assert_array_equal(getattr(xp, f)(xp.asarray(z)).numpy(), getattr(np, f)(z))


REASONS = {
    "complex-to-real": refuses_imaginary_parts,
    "infinite-quotients": floors_as_python_does,
    "complex-infinities": takes_values_of_numpy,
}


@pytest.mark.parametrize("reason", REASONS)
def test_reasons_hold(reason):
    REASONS[reason]()


def test_every_line_has_a_reason():
    """Blocks of lines, each below a comment that opens with the name of its reason."""
    blocks = [block.splitlines() for block in "\n".join(LIST).split("\n\n")[1:]]
    assert [re.match(r"# ([a-z-]+): ", block[0])[1] for block in blocks] == list(REASONS)
    for block in blocks:
        tests = [line for line in block if not line.startswith("#")]
        assert tests and all(re.match(r"array_api_tests/test_\w+\.py::test_\w+", line) for line in tests)
