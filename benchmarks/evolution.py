"""Time evolution beside TeNPy, and gradients through it: `OMP_NUM_THREADS=1 python -m benchmarks.evolution`.

The critical Ising chain of 40 sites after a quench from all spins up. All begin with the same state, evolved by qad to
t = 5 and bond 64, and go on in steps of 0.05, cut at bond 64; seconds are those of one step, twenty steps timed for
gates ("tebd", second order; both make the half steps that meet as one) and one for the variational principle of two
sites. The last line is the gradient of the mean of sz by the field through 100 steps of gates, beside the same
evolution without a gradient. One thread, interleaved rounds, least seconds of the processor (a machine that others use
stretches time, not these); values agree to 1e-4.
"""

import json
import os
import sys
import time
import warnings
from functools import cache

import numpy as np

from . import RESULTS
from .report import duration, markdown, section_of, write_json

KEPT = RESULTS / "evolution.json"
SITES, BOND, STEP = 40, 64, 0.05
AGREE = 1e-4
SZ = np.diag([1.0, -1.0])


@cache
def start():
    """The state after the quench, and the operator."""
    import qad

    H, up = qad.mps.ising(SITES, 1.0), qad.mps.MPS.product([0] * SITES)
    return qad.mps.evolve(up, H, 5.0, 100, "tebd", BOND, cutoff=1e-24).state, H


def of_qad(method, steps):
    """Seconds of the processor a step, and the mean of sz."""
    import qad

    psi, H = start()
    begun = time.process_time()
    final = qad.mps.evolve(psi, H, STEP * steps, steps, method, BOND).state
    spent = time.process_time() - begun
    return spent / steps, qad.mps.local_expectations(final, SZ).real.mean()


def of_tenpy(method, steps):
    """The same; TeNPy's chain has sx and sz exchanged."""
    from tenpy.algorithms.tdvp import TwoSiteTDVPEngine
    from tenpy.algorithms.tebd import TEBDEngine
    from tenpy.models.tf_ising import TFIChain
    from tenpy.networks.mps import MPS

    warnings.simplefilter("ignore")
    model = TFIChain({"L": SITES, "J": 1.0, "g": 1.0, "bc_MPS": "finite", "conserve": None})
    turn = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2)
    tensors = [(turn @ t).transpose(1, 0, 2) for t in start()[0].canonicalize(0)]
    psi = MPS.from_Bflat(model.lat.mps_sites(), tensors, bc="finite", form=None)
    psi.canonical_form()
    options = {"dt": STEP, "N_steps": steps, "order": 2, "trunc_params": {"chi_max": BOND, "svd_min": 1e-10}}
    kind = TEBDEngine if method == "tebd" else TwoSiteTDVPEngine
    options.pop("order" if method != "tebd" else "", None)
    engine = kind(psi, model, options)
    begun = time.process_time()
    engine.run()
    spent = time.process_time() - begun
    return spent / steps, np.mean(psi.expectation_value("Sigmax"))


def gradient(steps, derived):
    """Seconds of all steps, with a gradient by the field or without one, and the mean of sz."""
    import qad

    psi, _ = start()

    def mean(g):
        final = qad.mps.evolve(psi, qad.mps.ising(SITES, g), STEP * steps, steps, "tebd", BOND, cutoff=1e-24).state
        return qad.mps.local_expectations(final, SZ).real.mean()

    begun = time.process_time()
    value = qad.value_and_grad(mean)(1.0)[0] if derived else mean(1.0)
    return time.process_time() - begun, value


LINES = {  # rounds, and the contenders, the one of which qad's is a multiple last
    "a step of tebd, bond 64": (3, {"qad": (of_qad, "tebd", 20), "TeNPy": (of_tenpy, "tebd", 20)}),
    "a step of tdvp2, bond 64": (3, {"qad": (of_qad, "tdvp2", 1), "TeNPy": (of_tenpy, "tdvp2", 1)}),
    "100 steps of tebd with a gradient": (
        1,
        {"qad": (gradient, 100, True), "qad, no gradient": (gradient, 100, False)},
    ),
}


def measured(rounds, contenders):
    """Least seconds by contender, in interleaved rounds."""
    seconds = {name: [] for name in contenders}
    for _ in range(rounds):
        values = []
        for name, (call, *arguments) in contenders.items():
            spent, value = call(*arguments)
            seconds[name].append(spent)
            values.append(value)
        if np.ptp(values) > AGREE:
            raise AssertionError(f"results differ: {values}")
    return {name: min(found) for name, found in seconds.items()}


def section(results, name="evolution", words=__doc__):
    """The page of the benchmark."""
    table = [["", "qad", "other", "", "other / qad"]]
    for line, found in results["lines"].items():
        (_, own), (other, peer) = found.items()
        table.append([line, duration(own), duration(peer), other, f"{peer / own:.2f}"])
    return section_of(name, words, markdown(table), results)


def main(wanted=(), lines=LINES, path=KEPT):
    """Measure the lines whose names contain one of the words, and keep them in a file beside the others."""
    from .peers import environment

    if os.environ.get("OMP_NUM_THREADS") != "1":
        sys.exit(f"one thread a library: OMP_NUM_THREADS=1 python -m benchmarks.{path.stem}")
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {"lines": {}}
    for line, (rounds, contenders) in lines.items():
        if not wanted or any(word in line for word in wanted):
            kept["lines"][line] = measured(rounds, contenders)
            print(line, kept["lines"][line], flush=True)
            write_json({"lines": kept["lines"], "environment": environment(1)}, path)


if __name__ == "__main__":
    main(sys.argv[1:])
