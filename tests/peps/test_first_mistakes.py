"""Arguments in the wrong order, and states, environments and models of the wrong kind, are answered in a sentence."""

import numpy as np
import pytest

from qad import mps, peps
from qad.core.errors import ArgumentError
from qad.peps import classical, finite

STATE = peps.PEPS([np.array([0.6, 0.8]).reshape(2, 1, 1, 1, 1)])
ENV, MODEL = peps.environment(STATE, 1), peps.heisenberg()
WRONG = [16, "Z", None, mps.MPS.random(4, 2), mps.heisenberg(4), finite.FinitePEPS.random(2, 2, bond=2)]


OWN = {"a PEPS": STATE, "an Environment": ENV, "a Model": MODEL}
CALLS = {
    "a PEPS": [
        lambda x: peps.energy(x, MODEL, 4),
        lambda x: peps.environment(x, 4),
        lambda x: peps.expectation(x, MODEL, ENV),
        lambda x: peps.expectation(x, peps.term(np.eye(2), [(0, 0)]), ENV),
        lambda x: peps.local_expectations(x, "Sz", ENV),
        lambda x: peps.reduced_density(x, [(0, 0)], ENV),
        lambda x: peps.structure_factor(x, np.eye(2), (0.0, 0.0), 1),
    ],
    "an Environment": [
        peps.correlation_length,
        lambda x: peps.entanglement_spectrum(x, 4),
        lambda x: peps.expectation(STATE, MODEL, x),
        lambda x: peps.local_expectations(STATE, "Sz", x),
        lambda x: peps.reduced_density(STATE, [(0, 0)], x),
    ],
    "a Model": [
        lambda x: peps.simple_update(x, 2),
        lambda x: peps.cluster_update(x, 2),
        lambda x: peps.ground_state(x, 2, 8),
        lambda x: peps.expectation(STATE, x, ENV),
    ],
}


@pytest.mark.parametrize(
    "kind, call, wrong",
    [
        (kind, call, wrong)
        for kind, calls in CALLS.items()
        for call in calls
        for wrong in (*WRONG, *(x for name, x in OWN.items() if name != kind))
    ],
)
def test_what_is_of_another_kind(kind, call, wrong):
    with pytest.raises(ArgumentError, match=f"{kind} is needed, but got {type(wrong).__name__}: "):
        call(wrong)


@pytest.mark.parametrize("wrong", [*WRONG, MODEL, STATE], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize(
    "call",
    [
        lambda x: peps.partition_function(x, 32),
        classical.spins,
        peps.triangular,
        peps.honeycomb,
        peps.kagome,
        lambda x: peps.term(x, [(0, 0)]),
        lambda x: finite.expectation(finite.FinitePEPS.random(2, 2, bond=2), "N" if x == "Z" else x, [(0, 0)]),
    ],
)
def test_what_is_no_array(call, wrong):
    """Nor, where a name would do, that of an operator that spins have."""
    with pytest.raises(ArgumentError, match=r"is an array, not|where an array or a number is needed|no operator 'N'"):
        call(wrong)


def test_samples_are_of_finite_states():
    with pytest.raises(
        ArgumentError, match=r"a qad\.peps\.finite\.FinitePEPS is needed, but got qad\.peps\.infinite\.state\.PEPS"
    ):
        finite.sample(STATE, 4)
