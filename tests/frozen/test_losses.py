"""What every example and every benchmark computes, frozen and eager: new values, both without passes, and threads."""

import threading
from pathlib import Path

import numpy as np
import pytest

import qad
from benchmarks import NAMES
from tests.examples.running import EXAMPLES as FOLDER
from tests.examples.running import run
from tests.frozen.agree import difference, elsewhere
from tests.frozen.losses import BENCHMARKS, EXAMPLES, INNER

# Eager calls of these take shortcuts for plain arrays, which change the rounding: small networks and chains run in
# compiled loops (for the last, within NumPy 2.0, whose
# complex products round by the layout in memory).
SHORTCUTS = {
    "mps/01_heisenberg_ground_state.py energy", "mps/03_heisenberg_hundred_sites.py energy", "mps_energy energy",
    "mps/05_ising_transition.py energy", "mps/06_infinite_heisenberg.py energy", "time_to_energy energy",
    "freeze_large energy", "contraction sandwich, hermitian=False", "contraction sandwich, hermitian=True",
    "contraction trace", "contraction peps", "contraction regular", "contraction renormalisation",
    "transforms Hessian, partition", "transforms Hessian, repulsion", "trg/ising_trg.py lnZ",
    "transforms complex polynomial",
}  # fmt: skip


def functions(name):
    """Triples (label, function, point) of a file."""
    if name in EXAMPLES:
        return [(label, *pair) for label, pair in EXAMPLES[name](lambda: run(name)).items()]
    return list(BENCHMARKS[name]())


def calls(frozen, points, expected, exact):
    """What differs in calls at the first point, there again, and at the second; replays have the bits of recordings."""
    found = [frozen(*points[i]) for i in (0, 0, 1)]
    again = f"recorded {frozen.stats.recordings} times: {frozen.stats.reasons}"
    differences = [difference(expected[i], y, exact) for i, y in zip((0, 0, 1), found, strict=True)]
    repeated = difference(found[0], found[1], frozen.passes == ())
    return next(filter(None, (*differences, repeated, again if frozen.stats.recordings > 1 else None)), None)


def threads(frozen, points, expected):
    """What differs where three threads call one frozen function at once."""
    wrong = []

    def work(shift):
        with np.errstate(all="ignore"):
            for turn in range(3):
                i = (turn + shift) % 2
                wrong.append(difference(expected[i], frozen(*points[i]), False))

    running = [threading.Thread(target=work, args=(shift,)) for shift in range(3)]
    [thread.start() for thread in running]
    [thread.join() for thread in running]
    assert len(wrong) == 9
    return next(filter(None, wrong), None)


def problems(name):
    """What is wrong with the functions of a file, frozen."""
    found = {}
    for label, f, point in functions(name):
        points = point, elsewhere(point)
        try:
            expected = [f(*x) for x in points]
        except qad.QadError as error:  # where a derivative does not exist frozen functions refuse, too
            with pytest.raises(type(error)):
                qad.freeze(f)(*point)
            continue
        improved, recorded = qad.freeze(f), qad.freeze(f, passes=())
        found[label] = (
            calls(improved, points, expected, False)
            or calls(recorded, points, expected, f"{name} {label}" not in SHORTCUTS)
            or threads(improved, points, expected)
        )
    return {label: wrong for label, wrong in found.items() if wrong}


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("name", [*EXAMPLES, *BENCHMARKS])
@pytest.mark.sampled(2)
def test_frozen_equals_eager(name):
    assert not problems(name)


def test_no_file_is_left_out():
    apart = ("interop", "papers", "vmc")  # run by tests/interop and tests/examples
    paths = [path for path in Path(FOLDER).rglob("*.py") if path.parent.name not in apart]
    files = {str(path.relative_to(FOLDER)) for path in paths}
    assert set(EXAMPLES) == files
    assert set(BENCHMARKS) == set(NAMES)
    assert set(INNER) < files | set(NAMES)
