"""What is promised for every primitive: a case that checks it, and cotangents as fresh as its flag says.

A case counts for all primitives that it records, in its first two derivatives.  To join, a test module of one of
the FLOORS states a list called CASES; see ``tests/cases.py``.
"""

import inspect
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import qad
from qad.core.debug.observer import Observer
from qad.core.registry.define import PRIMITIVES
from qad.core.tape.cotangents import Lazy
from qad.core.tape.dispatch import FUNCTIONS
from qad.rules.making.devices import moved
from tests.cases import below, normal
from tests.circuit.observables.test_energies import of_angles
from tests.linalg.draw import apart

FLOORS = ("rules", "special", "linalg", "contract", "symmetric", "mps", "peps", "circuit", "vmc")
TESTS = Path(__file__).parents[1]


def gathered(floors=FLOORS):
    """Every case of every module of these floors."""
    for floor in floors:
        for path in sorted((TESTS / floor).rglob("test_*.py")):
            if path != Path(__file__):
                name = ".".join(("tests", *path.relative_to(TESTS).with_suffix("").parts))
                yield from getattr(import_module(name), "CASES", ())


KNOWN = {}  # what cases record, for the tests of a process that go through all of them


def nodes_of(case):
    """Every node that a case and its gradient record."""
    if id(case) not in KNOWN:
        KNOWN[id(case)] = case, case.nodes()
    return KNOWN[id(case)][1]


def fresh(cases):
    """Those that record a primitive, for operands of these numbers of axes, which none before did."""
    seen = set()
    for case in cases:
        kinds = {(node[1].name, *(np.ndim(a) for a in node[2] if hasattr(a, "ndim"))) for node in nodes_of(case)}
        if not kinds <= seen:
            seen |= kinds
            yield case


def ours(fn):
    """Whether a primitive belongs to qad, not to a test, or to a bridge whose package may be missing."""
    module = getattr(fn, "__module__", None) or "numpy"
    return module.partition(".")[0] in ("numpy", "scipy", "qad") and not module.startswith("qad.interop.")


@pytest.fixture(scope="module")
def recorded():
    """Pairs of a case and a node that it recorded, one per primitive, variant and case."""
    pairs = []
    for case in gathered():
        by_primitive = {id(node[1]): node for node in nodes_of(case)}
        pairs += [(case, node) for node in by_primitive.values()]
    return pairs


class Seen(Observer):
    """The primitives that were applied while it looked on."""

    def __init__(self):
        self.fns = set()

    def apply(self, p, args, kwargs):
        self.fns.add(p.fn)
        return super().apply(p, args, kwargs)


def of_noise(p):
    return qad.circuit.NoisyCircuit(1).ry(0.4, 0).channel(qad.circuit.amplitude_damping(p), 0).expectation("Z")


def of_entropy(angle):
    return qad.circuit.entropy(qad.Circuit(2).ry(angle, 0).cx(0, 1), [0])


def of_no_coupling(j):
    return qad.mps.uniform.ground_energy(qad.mps.uniform.ising(1.0, j=j))


def of_amplitudes(scale):
    psi = qad.mps.MPS([tensor * scale for tensor in qad.mps.MPS.random(4, 4, seed=0)])
    return np.sum(qad.abs2(psi.amplitudes([[0, 1, 0, 1], [1, 0, 0, 1]])))


def of_time(t):
    """A loss of an evolution by tensors, not amplitudes."""
    final = qad.mps.evolve(qad.mps.MPS.random(4, 4, seed=0), qad.mps.ising(4, 1.0), t, 1, bond=4, cutoff=0.0).state
    return qad.mps.local_expectations(final, "Z").real.sum()


def of_time_beyond_neighbours(t):
    H = qad.mps.OpSum(4).add(1.0, "X", 0, "X", 2).mpo()
    final = qad.mps.evolve(qad.mps.MPS.product([0] * 4), H, t, 1, method="tdvp2", cutoff=1e-12).state
    return qad.mps.local_expectations(final, "Z").real.sum()


def of_samples(field):
    log_psi, params = qad.vmc.jastrow(4)
    H, space = qad.mps.heisenberg(4), qad.vmc.Spins(4, total=0)
    return qad.vmc.expect(log_psi, {**params, "v": np.arange(4) * field}, H, space, sampler="exact").mean


@pytest.fixture(scope="module")
def of_second_derivatives():
    """Primitives of cases at coinciding values, of searches and small circuits, that only second derivatives meet."""
    h, v = np.diag([1.0, 1.0, 2.0, 3.0]), (normal(4, 4) + normal(4, 4).T,)
    kept = {
        "eigh": lambda a: np.sum(v[0] * (np.linalg.eigh(a)[1][:, :2] @ np.linalg.eigh(a)[1][:, :2].T)),
        "svd": lambda a: np.sum(v[0] * (np.linalg.svd(a)[0][:, 2:] @ np.linalg.svd(a)[0][:, 2:].T)),
        "apart": lambda a: np.sum(v[0] * ((x := apart(np.linalg.eigh(a)[1])[:, :2]) @ x.T)),
        "values": lambda a: np.linalg.eigvalsh(a)[:2].sum(),
        "curved": lambda a: np.sum(apart(np.linalg.eigh(a)[0])[:2] ** 2),  # refused, by the primitive that looks at it
        "small circuit": lambda a: np.sum(qad.grad(of_angles)(a[0]) ** 2),
        "moved": lambda a: np.sum(moved(a, device="cpu")),  # a case would leave the device in the tests of such arrays
        "lowest_eig": lambda a: qad.linalg.lowest_eig(a @ np.diag([1.0, 2.0, 1.0, 1.0]), np.ones(4))[0],
    }
    first = {of_noise: np.array(0.2), of_entropy: np.array(0.0), of_no_coupling: np.array(0.0), of_time: np.array(0.1)}
    with Seen() as seen:
        qad.grad(of_time)(0.1)
        qad.grad(of_time_beyond_neighbours)(0.1)
        qad.grad(of_samples)(0.1)
        qad.vmap(qad.grad(of_amplitudes))(np.array([1.0, 2.0]))  # their slopes are recorded by batches and by freeze
        for f in kept.values():
            with suppress(qad.errors.ArgumentError):
                qad.hvp(f, (h,), v)
        for f, x in first.items():
            with suppress(qad.errors.ArgumentError):
                qad.hvp(f, (x,), (np.ones_like(x),))
    return seen.fns


def test_every_primitive_has_a_case(recorded, of_second_derivatives):
    covered = {node[1].fn for _, node in recorded} | of_second_derivatives
    missing = sorted(p.name for fn, p in PRIMITIVES.items() if ours(fn) and fn not in covered)
    assert not missing, f"no case in CASES records {', '.join(missing)}"


def arrays(*things):
    """The ndarrays among `things` and in the tuples among them."""
    for x in things:
        if isinstance(x, (tuple, list)):
            yield from arrays(*x)
        elif isinstance(x, np.ndarray):
            yield x


def stale(node):
    """What is wrong with the cotangents of a node that promises fresh ones, or None."""
    _, p, args, kwargs, ans, parents = node
    several = isinstance(ans, (tuple, list))
    g = tuple(normal(*a.shape, a.dtype.type) for a in (ans if several else (ans,)))
    g = g if several else g[0]
    wanted = tuple(i for i, parent in enumerate(parents) if parent is not None)
    cotangents = [c.dense() if isinstance(c, Lazy) else c for c in p.cotangents(wanted, g, ans, args, kwargs or {})]
    for i, c in enumerate(cotangents):
        if isinstance(c, np.ndarray):
            if not c.flags.writeable:
                return "is read-only"
            if any(np.shares_memory(c, x) for x in arrays(g, ans, args, cotangents[:i])):
                return "shares memory with the cotangent, the answer, an operand or another cotangent"
    return None


def test_fresh_cotangents_are_fresh(recorded):
    wrong = {f"{node[1].name} ({case})": stale(node) for case, node in recorded if node[1].fresh}
    wrong = [f"{name}: its cotangent {complaint}" for name, complaint in wrong.items() if complaint]
    assert not wrong, "\n".join(wrong)


def test_stale_cotangents_are_noticed():
    (node,) = below(qad.tensor(normal(3), requires_grad=True) + 1.0)
    assert "shares memory" in stale(node)


def shows(node):
    """Whether the answer of a node is a view of its only array, in NumPy as it stands."""
    p, args, kwargs = node[1], node[2], node[3] or {}
    arrays = [a for a in args if isinstance(a, np.ndarray)]
    if len(arrays) != 1 or type(args[0]) is not np.ndarray:
        return False
    ans = p.raw(*args, **kwargs)
    return isinstance(ans, np.ndarray) and np.may_share_memory(ans, args[0])


def test_views_are_declared(recorded):
    """A linear function of one array whose answer may be a view of it says so."""
    missing = {node[1].name for _, node in recorded if node[1].linear and not node[1].shows and shows(node)}
    assert not missing, f"shows=True is missing: {', '.join(sorted(missing))}"


def test_every_keyword_of_numpy_is_understood():
    for fn, handler in FUNCTIONS.items():
        if isinstance(fn, tuple) or not getattr(fn, "__module__", "").startswith("numpy"):
            continue
        known = inspect.signature(handler).parameters.values()
        if any(p.kind is p.VAR_KEYWORD for p in known):
            continue
        try:
            named = inspect.signature(fn).parameters.values()
        except ValueError:  # NumPy did not always say it of what is written in C
            continue
        named = {p.name for p in named if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        missing = named - {p.name for p in known} - {"newshape"}  # NumPy 2.0's name of `shape`
        missing -= {"bias", "ddof"} if fn is np.corrcoef else set()  # which did nothing, and are gone
        assert not missing, f"np.{fn.__name__} of a Tensor does not know {missing}"
