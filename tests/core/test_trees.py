"""Pytrees: dataclasses that nobody registered."""

import sys
from dataclasses import dataclass, field, make_dataclass
from threading import Barrier, Thread

import numpy as np
import pytest

import qad

X = np.array([1.0, 2.0])


@dataclass(frozen=True)
class Point:
    x: object
    label: str = field(default="p", metadata={"static": True})


def test_dataclasses_come_back_as_they_were():
    g = qad.grad(lambda p: (p.x * p.x).sum())(Point(X, "q"))
    assert type(g) is Point and g.label == "q"
    np.testing.assert_array_equal(g.x, 2 * X)


def test_fields_that_are_no_numbers_name_the_way_out():
    cls = make_dataclass("Named", ["x", "name"])
    with pytest.raises(qad.errors.GradientTypeError, match=r"\.name has type str"):
        qad.grad(lambda p: p.x.sum())(cls(X, "n"))


def test_threads_that_meet_a_class_at_the_same_time():
    errors, interval = [], sys.getswitchinterval()

    def meet(p, barrier):
        barrier.wait()
        try:
            qad.grad(lambda p: (p.x * p.x).sum())(p)
        except Exception as error:
            errors.append(error)

    sys.setswitchinterval(1e-6)
    try:
        for i in range(50):
            p, barrier = make_dataclass(f"Fresh{i}", ["x"])(X), Barrier(4)
            threads = [Thread(target=meet, args=(p, barrier)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
