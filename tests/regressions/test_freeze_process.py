"""State of the process or of a library that a function tells: a frozen function follows it, or says that it cannot."""

import decimal
import gc
import importlib
import inspect
import locale
import logging
import os
import random
import sys
import threading
from os import getcwd

import numpy as np
import pytest

import qad

X = np.array([1.0, 2.0, 3.0])
NAME = "here"
HERE = os.getcwd()
THIRD = decimal.Decimal(1)
LOGGER = logging.getLogger(__name__)
RNG, OLD = np.random.default_rng(0), random.Random(0)


def _raised(x):
    return x * (2.0 if LOGGER.isEnabledFor(logging.INFO) else 5.0)


def _thread_name(name):
    threading.current_thread().name = name


TOLD = {  # name -> (function, change, what puts it back)
    "precision": (
        lambda x: x * float(decimal.Decimal(1) / decimal.Decimal(3)),
        lambda: setattr(decimal.getcontext(), "prec", 5),
        lambda: decimal.setcontext(decimal.Context()),
    ),
    "precision of a captured number": (
        lambda x: x * float(THIRD / 3),
        lambda: setattr(decimal.getcontext(), "prec", 5),
        lambda: decimal.setcontext(decimal.Context()),
    ),
    "context": (
        lambda x: x * decimal.getcontext().prec,
        lambda: setattr(decimal.getcontext(), "prec", 5),
        lambda: decimal.setcontext(decimal.Context()),
    ),
    "folder": (lambda x: x * len(os.getcwd()), lambda: os.chdir("/"), lambda: os.chdir(HERE)),
    "folder by its own name": (lambda x: x * len(getcwd()), lambda: os.chdir("/"), lambda: os.chdir(HERE)),
    "environment": (
        lambda x: x * len(os.getenv("QAD_OF_A_TEST", "")),
        lambda: os.environ.update(QAD_OF_A_TEST="there"),
        lambda: os.environ.pop("QAD_OF_A_TEST"),
    ),
    "errors of NumPy": (
        lambda x: x * len(np.geterr()["divide"]),
        lambda: np.seterr(divide="ignore"),
        lambda: np.seterr(divide="warn"),
    ),
    "printing": (
        lambda x: x * np.get_printoptions()["precision"],
        lambda: np.set_printoptions(precision=3),
        lambda: np.set_printoptions(precision=8),
    ),
    "recursion": (
        lambda x: x * sys.getrecursionlimit(),
        lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 1),
        lambda: sys.setrecursionlimit(sys.getrecursionlimit() - 1),
    ),
    "level": (lambda x: x * LOGGER.level, lambda: LOGGER.setLevel(10), lambda: LOGGER.setLevel(0)),
    "level that counts": (_raised, lambda: logging.root.setLevel(20), lambda: logging.root.setLevel(30)),
    "level by name": (
        lambda x: x * logging.getLogger(__name__).level,
        lambda: LOGGER.setLevel(10),
        lambda: LOGGER.setLevel(0),
    ),
    "thread": (
        lambda x: x * len(threading.current_thread().name),
        lambda: _thread_name("t"),
        lambda: _thread_name("MainThread"),
    ),
    "collection": (lambda x: x * (1 + gc.isenabled()), gc.disable, gc.enable),
    "qad": (
        lambda x: x * (2.0 if qad.config().messages else 5.0),
        lambda: qad.config(messages=not qad.config().messages),
        lambda: qad.config(messages=not qad.config().messages),
    ),
    "state of a generator": (
        lambda x: x * (RNG.bit_generator.state["state"]["state"] % 1000),
        lambda: RNG.normal(),
        lambda: None,
    ),
    "state of Python's generator": (lambda x: x * OLD.getstate()[1][-1], lambda: OLD.random(), lambda: None),
    "state of the common generator": (
        lambda x: x * float(np.random.get_state()[2]),  # noqa: NPY002
        lambda: np.random.normal(),  # noqa: NPY002
        lambda: None,
    ),
    "locale": (
        lambda x: x * len(locale.setlocale(locale.LC_NUMERIC)),
        lambda: locale.setlocale(locale.LC_NUMERIC, "C.UTF-8"),
        lambda: locale.setlocale(locale.LC_NUMERIC, "C"),
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_state_of_the_process_is_compared(name):
    """It was that of the time of recording."""
    f, change, back = TOLD[name]
    frozen = qad.freeze(f)
    for _ in range(2):
        np.testing.assert_array_equal(frozen(X), f(X))
    recordings = frozen.stats.recordings
    try:
        change()
        for _ in range(2):
            np.testing.assert_array_equal(frozen(X), f(X))
        assert frozen.stats.recordings + frozen.stats.eager > recordings == 1
    finally:
        back()


UNSEEN = {
    "frame": lambda x: x * len(sys._getframe().f_globals["NAME"]),
    "frame of inspect": lambda x: x * len(inspect.currentframe().f_back.f_code.co_name),
    "globals of a function": lambda x: x * len(_raised.__globals__["NAME"]),
    "module by its name": lambda x: x * len(importlib.import_module(__name__).NAME),
    "references": lambda x: x * sys.getrefcount(NAME),
    "collected": lambda x: x * gc.get_count()[0],
    "folder": lambda x: x * len(os.listdir(HERE)),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_cannot_be_followed_is_refused(name):
    with pytest.raises(qad.errors.ArgumentError, match="constant="):
        qad.freeze(UNSEEN[name])(X)


def test_a_date_of_a_captured_array_may_be_declared_constant():
    frozen = qad.freeze(lambda x: x * np.array("now", dtype="M8[Y]").astype(int), constant="datetime64")
    np.testing.assert_array_equal(frozen(X), frozen(X))


def test_state_may_be_declared_constant():
    frozen = qad.freeze(lambda x: x * len(os.getcwd()), constant="getcwd")
    try:
        expected = frozen(X)
        os.chdir("/")
        np.testing.assert_array_equal(frozen(X), expected)
    finally:
        os.chdir(HERE)
