"""The grammar, against NumPy's; errors quote the expression and point at the operand."""

import numpy as np
import pytest

import qad
from qad.contract.notation.parse import label_sizes, parse, parse_lists
from qad.core.errors import ArgumentError, ShapeError

VALID = [
    ("ij,jk->ik", (2, 2)), ("ij,jk", (2, 2)), ("ba", (2,)), ("bA", (2,)), ("ii", (2,)), ("ii->i", (2,)),
    ("iij->j", (3,)),
    ("...ij,...jk", (3, 2)), ("...ij,...jk->...ik", (4, 3)), ("i...,i...", (2, 3)), ("...", (2,)), ("...,...", (0, 2)),
    ("i...i->...", (3,)), ("ij...,jk->k...i", (3, 2)), ("", (0,)), (",", (0, 0)), (",->", (0, 0)), (",i->i", (0, 1)),
    (" i j , j k -> i k ", (2, 2)), ("ijk,ijk,ijl->l", (3, 3, 3)), ("ij...,jk->ik", (2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("text, ndims", VALID)
def test_output_is_numpys(text, ndims):
    operands = [
        np.ones(tuple(range(2, 2 + ndim)) if "ii" not in text and "i...i" not in text else (2,) * ndim)
        for ndim in ndims
    ]
    operands = [np.ones((2,) * operand.ndim) for operand in operands]
    assert qad.einsum(text, *operands).shape == np.einsum(text, *operands).shape
    np.testing.assert_allclose(qad.einsum(text, *operands), np.einsum(text, *operands))


def test_labels_are_numbered_by_first_appearance():
    one, two = parse("xy,yz->xz", (2, 2)), parse("ij,jk->ik", (2, 2))
    assert one.inputs == two.inputs == ((0, 1), (1, 2))
    assert one.output == two.output == (0, 2)
    assert one.term(one.output) == "xz"
    assert parse("xy,yz->xz", (2, 2)) is one


def test_lists_are_numpys():
    a, b = np.random.default_rng(0).random((2, 3)), np.random.default_rng(1).random((3, 2))
    for rest in ([[2, 0]], []):
        np.testing.assert_allclose(qad.einsum(a, [0, 1], b, [1, 2], *rest), np.einsum(a, [0, 1], b, [1, 2], *rest))
    np.testing.assert_allclose(qad.einsum(a, [Ellipsis, 1], b, [1, 5]), np.einsum(a, [Ellipsis, 1], b, [1, 5]))
    assert parse_lists([[70, 900], [900, "z"]], [70, "z"], (2, 2)).output == (0, 2)


def test_any_number_of_labels():
    count = 300
    terms = [argument for i in range(count) for argument in (np.full((2, 2), 0.5), [i, i + 1])]
    np.testing.assert_allclose(qad.einsum(*terms, [0, count]), np.full((2, 2), 0.5))
    text = ",".join(chr(0x100 + i) + chr(0x101 + i) for i in range(count))
    np.testing.assert_allclose(qad.einsum(text, *terms[::2]), np.full((2, 2), 0.5))


def test_axes_of_size_one_stretch():
    rng = np.random.default_rng(0)
    cases = [
        ("i,i->i", (1,), (3,)),
        ("ij,jk->ik", (2, 1), (3, 4)),
        ("i...,i...", (2, 3), (2, 1, 3)),
        ("ij,ij->", (3, 1), (3, 4)),
    ]
    for text, *shapes in cases:
        operands = [rng.random(shape) for shape in shapes]
        np.testing.assert_allclose(qad.einsum(text, *operands), np.einsum(text, *operands))
    assert label_sizes(parse("ij,jk->ik", (2, 2)), ((2, 1), (3, 4))) == (2, 3, 4)


ERRORS = [
    ("ij,jk->ik", [(2, 3)], ArgumentError, ["ij,jk->ik", "too few"]),
    ("ij->ik", [(2, 3), (2, 3)], ArgumentError, ["too many"]),
    ("ij,jk->il", [(2, 3), (3, 4)], ArgumentError, ["ij,jk->il", "'l'", "no operand"]),
    ("i->ii", [(2,)], ArgumentError, ["i->ii", "more than once"]),
    ("ij,jk->ik", [(2, 3), (3, 4, 5)], ShapeError, ["ij,jk->ik", "operand 1", "3 axes"]),
    ("...ijk", [(2, 3)], ShapeError, ["operand 0", "at least 3"]),
    ("ij,jk->ik", [(2, 3), (4, 5)], ShapeError, ["ij,jk->ik", "'j'", "size 3", "size 4", "operand 1", "\n       ^^"]),
    ("ii->i", [(2, 3)], ShapeError, ["ii->i", "operand 0", "'i'"]),
    ("ii->i", [(1, 3)], ShapeError, ["operand 0"]),
    ("i.j->ij", [(2, 3)], ArgumentError, ["stray"]),
    ("...i...", [(2, 3)], ArgumentError, ["operand 0"]),
    ("ij-ik", [(2, 3)], ArgumentError, ["->"]),
    ("ij->ji->ij", [(2, 3)], ArgumentError, ["->"]),
    ("i...->i", [(2, 3)], ArgumentError, ["ellipsis"]),
    ("i->i,j", [(2,)], ArgumentError, ["output", ","]),
    ("i1,1k->ik", [(2, 3), (3, 4)], ArgumentError, ["operand 0", '"1"', "numbers", "\n    ^^"]),
    ("ij->i_", [(2, 3)], ArgumentError, ["output", '"_"']),
]  # fmt: skip


@pytest.mark.parametrize("text, shapes, kind, words", ERRORS)
def test_errors_quote_and_point(text, shapes, kind, words):
    with pytest.raises(kind) as caught:
        qad.einsum(text, *map(np.ones, shapes))
    assert isinstance(caught.value, (qad.QadError, ValueError))
    for word in words:
        assert word in str(caught.value)


def test_malformed_lists_raise():
    a = np.ones((2, 2))
    with pytest.raises(ArgumentError, match="list of labels"):
        qad.einsum(a, [0, 1], a)
    with pytest.raises(ArgumentError, match="list of labels"):
        qad.einsum(a, a, [0, 1])
    with pytest.raises(ArgumentError, match="sort|list of labels"):
        qad.einsum(a, [0, "x"], a, ["y", 1])
    with pytest.raises(ArgumentError, match="string"):
        qad.plan(None, (2, 2))
