"""Thresholds of linear algebra: at most ten, in one file, and no small number anywhere else."""

import ast
from pathlib import Path

import numpy as np
import pytest

import qad.linalg
from qad.linalg.support import tolerances

ROOT = Path(qad.linalg.__file__).parent
OF_ROUNDING = {"eps", "tiny", "resolution", "smallest_normal", "smallest_subnormal", "epsneg"}


def small_numbers(text):
    """(line, code) of what is a small number, or makes one: literals, powers of ten, and units of rounding."""
    for node in ast.walk(ast.parse(text)):
        small = isinstance(node, ast.Constant) and isinstance(node.value, float) and 0 < abs(node.value) < 0.1
        power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and _is_negative(node.right)
        power &= isinstance(getattr(node, "left", None), ast.Constant)
        owner = getattr(getattr(node, "value", None), "id", "")
        if small or power or (isinstance(node, ast.Attribute) and node.attr in OF_ROUNDING and owner != "tolerances"):
            yield node.lineno, ast.unparse(node)


def _is_negative(node):
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def test_no_small_number_stands_outside_of_one_file():
    files = [p for p in ROOT.rglob("*.py") if p != Path(tolerances.__file__)]
    assert len(files) > 60
    assert not {str(p.relative_to(ROOT)): found for p in files if (found := list(small_numbers(p.read_text())))}


@pytest.mark.parametrize("code", ["x < 1e-8", "np.finfo(x.dtype).eps", "10**-12", "info.tiny", "if y > -0.05: pass"])
def test_the_walk_sees_small_numbers(code):
    assert list(small_numbers(code))


def test_there_are_ten_constants_at_most_and_each_says_where_it_comes_from():
    lines = Path(tolerances.__file__).read_text().splitlines()
    constants = [line for line in lines if line[:1].isupper() and " = " in line]
    assert 0 < len(constants) <= 10
    assert all("  # " in line for line in constants)
    names = {name for name in vars(tolerances) if name.isupper() and name != "TYPE_CHECKING"}
    assert {line.split(" = ")[0] for line in constants} == names


def test_what_is_lost_follows_from_the_promise():
    """What is divided by tau_k**k loses all but a quarter of its digits."""
    for dtype in (np.float32, np.float64, np.complex128):
        for order in (1, 2, 3):
            error = tolerances.sums(dtype) / tolerances.lost(dtype, order) ** order
            assert error == pytest.approx(tolerances.quarter(dtype))
        assert tolerances.zero(dtype, 10) < tolerances.lost(dtype) < tolerances.lost(dtype, 2) < tolerances.far(dtype)


def test_what_lapack_leaves_of_zeros_counts_as_zero():
    rng = np.random.default_rng(0)
    for n in (2, 3, 5, 20, 60):
        for rank in {1, n // 2, n - 1}:
            a = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n))
            s = np.linalg.svd(a, compute_uv=False)
            assert s[rank] <= tolerances.zero(float, n) * s[0]
