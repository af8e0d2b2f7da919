"""The wall around speed: without `qad/core/fast` nothing changes but the time."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import qad
from qad.core import fast
from qad.core.tape import backward, recorders
from tests.properties.roads import outcomes, unlike
from tests.rules.test_registry import gathered

ROOT = Path(qad.__file__).parents[1]
EACH = 20  # of so many cases one is computed

pytestmark = pytest.mark.filterwarnings("ignore")  # at kinks NumPy warns


def results():
    """What every transform makes of some cases, by their names."""
    cases = list(gathered(("rules",)))[::EACH]
    with np.errstate(all="ignore"):
        return {str(case): outcomes(case.f, case.point, case.order) for case in cases}


def without(code):
    """What Python prints where qad is imported without its short-cuts."""
    environment = {**os.environ, "QAD_FAST": "0", "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, env=environment, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout


def test_without_the_folder_results_are_the_same(tmp_path):
    path = tmp_path / "results"
    made = "import pickle; from tests.core.fast.test_wall import results"
    without(f"{made}; open({str(path)!r}, 'wb').write(pickle.dumps(results()))")
    plain, quick = pickle.loads(path.read_bytes()), results()
    assert plain.keys() == quick.keys()
    found = [
        f"{case}, {name}: {words}"
        for case in quick
        for name in quick[case]
        for words in unlike(quick[case][name], plain[case][name], 1e-11)
    ]
    assert not found, found[0]


@pytest.mark.slow
def test_without_the_folder_nothing_of_it_is_loaded():
    code = "import sys, qad; qad.grad(lambda x: x * x)(2.0); print(*[m for m in sys.modules if 'core.fast.' in m])"
    assert without(code).split() == []


@pytest.mark.skipif(os.environ.get("QAD_FAST") == "0", reason="they are left out")
def test_the_quick_ones_stand_where_the_plain_ones_stood():
    """A name that is imported before they are installed would stay the plain one, silently."""
    assert backward.sweep is fast.sweep.sweep is not backward.plain_sweep
    assert recorders.unary is fast.recorders.unary and recorders.product is fast.recorders.product
    assert np.multiply in qad.core.tape.dispatch.UFUNCS
    assert qad.core.tape.dispatch.UFUNCS[np.multiply].__module__ == "qad.core.fast.recorders"
