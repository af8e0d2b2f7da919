"""Random Hamiltonians, starts and observables for `tests.fuzz.physics`."""

from dataclasses import dataclass

import numpy as np

import qad
from tests.physics import exact


@dataclass(frozen=True)
class Model:
    """A sum of Hermitian groups of terms, each with its coupling."""

    kinds: tuple
    groups: tuple  # of (coupling, terms of coupling 1)
    charge: str | None  # conserved: what qad calls it
    names: tuple  # of two operators of a pair, and of one of a site

    def terms(self, which=None, value=None):
        """All terms; with another coupling of one group."""
        out = []
        for k, (coupling, terms) in enumerate(self.groups):
            x = value if k == which else coupling
            out += [(x * c, *factors) for c, *factors in terms]
        return out

    def opsum(self):
        """For qad."""
        return exact.opsum(self.kinds, self.terms())

    def steps(self, time):
        """Steps in which the terms of a site turn by a twentieth."""
        return int(np.ceil(abs(time) / self.turn()))

    def turn(self):
        """The time of such a step."""
        weight = np.zeros(len(self.kinds))
        for c, *factors in self.terms():
            for site in set(factors[1::2]):
                weight[site] += abs(c)
        return 0.05 / max(weight.max(), 1.0)

    def in_sector(self, h, rng):
        """The matrix on the states of a random charge, and the charge."""
        own = {"spin-1/2": (1, -1), "fermion": (0, 1), "electron": (0, 1, 1, 2)}[self.kinds[0]]
        total = np.zeros(())
        for _ in self.kinds:
            total = np.add.outer(total, own)
        total = total.reshape(-1)
        sector = int(rng.choice(np.unique(total)[1:-1]))
        keep = np.flatnonzero(total == sector)
        return h[keep][:, keep], sector

    def __str__(self):
        return f"{len(self.kinds)} of {self.kinds[0]}: {self.groups}"


def draw_model(rng, largest=9):
    """A random model: spins, spinless fermions or electrons, with a charge or without."""
    kind = rng.choice(["spin-1/2", "spin-1/2", "fermion", "electron"])
    most = {"electron": min(4, max(largest // 2, 2))}.get(kind, largest)
    n = int(rng.integers(2 if kind == "electron" else 3, most + 1))
    reach = int(rng.choice([1, 1, 2, n - 1]))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, min(i + reach, n - 1) + 1)]
    pairs = [pairs[k] for k in rng.permutation(len(pairs))[: max(1, int(len(pairs) * rng.choice([0.3, 1.0])))]]
    groups, charge = MAKERS[kind](rng, n, pairs)
    names = {"spin-1/2": ("Sp", "Sm", "Z"), "fermion": ("Cdag", "C", "N"), "electron": ("Cdagup", "Cup", "Sz")}[kind]
    return Model((str(kind),) * n, tuple(groups), charge, names)


def coupling(rng):
    """Of order one, sometimes a round number."""
    return float(rng.choice([-1.0, 1.0, 0.5])) if rng.random() < 0.4 else round(float(rng.normal()), 3)


def spins(rng, n, pairs):
    """Exchange with a charge, or products of any Pauli matrices."""
    if rng.random() < 0.5:
        delta = coupling(rng)
        groups = [(coupling(rng), exact.exchange([pair], 1.0, delta)) for pair in pairs]
        fields = [(coupling(rng), [(1.0, "Sz", int(i))]) for i in rng.permutation(n)[: rng.integers(0, n)]]
        return groups + fields, "Sz"
    groups, letters = [], ["X", "Y", "Z"]
    bulk = rng.choice(letters, 2) if rng.random() < 0.5 else None
    for i, j in pairs:
        a, b = bulk if bulk is not None else rng.choice(letters, 2)
        middle = [str(rng.choice(letters)), int(rng.integers(i + 1, j))] if j > i + 1 and rng.random() < 0.3 else []
        groups.append((coupling(rng), [(1.0, str(a), i, *middle, str(b), j)]))
    if rng.random() < 0.7:
        field, letter = coupling(rng), str(rng.choice(letters))
        groups.append((field, [(1.0, letter, i) for i in range(n)]))
    return groups, None


def fermions(rng, n, pairs):
    """Hopping, interactions, levels; or pairing too."""
    groups = [(coupling(rng), exact.hopping([pair], 1.0)) for pair in pairs]
    groups += [(coupling(rng), [(1.0, "N", i, "N", j)]) for i, j in pairs if rng.random() < 0.5]
    groups += [(coupling(rng), [(1.0, "N", int(i))]) for i in rng.permutation(n)[: rng.integers(0, n)]]
    if rng.random() < 0.7:
        return groups, "N"
    return groups + [(coupling(rng), [(1.0, "C", i, "C", j), (1.0, "Cdag", j, "Cdag", i)]) for i, j in pairs[:2]], None


def electrons(rng, n, pairs):
    """Hubbard's chain with hops of any range."""
    groups = [(coupling(rng), exact.hopping([pair], 1.0, ("up", "dn"))) for pair in pairs]
    u = coupling(rng) * 2
    groups.append((u, [(1.0, "NupNdn", i) for i in range(n)]))
    groups += [(coupling(rng), [(1.0, "N", int(i))]) for i in rng.permutation(n)[: rng.integers(0, n)]]
    return groups, "N"


MAKERS = {"spin-1/2": spins, "fermion": fermions, "electron": electrons}


def draw_observable(rng, model):
    """A Hermitian operator of one or two sites, as terms."""
    n, (first, second, single) = len(model.kinds), model.names
    i, j = sorted(rng.choice(n, 2, replace=False).tolist())
    return [
        [(1.0, single, i)],
        [(1.0, single, i, single, j)],
        [(1.0, first, i, second, j), (1.0, first, j, second, i)],
    ][rng.integers(3)]


def draw_start(rng, model):
    """A product of basis states, of any states, a random chain, or the ground state of another Hamiltonian."""
    n, d = len(model.kinds), exact.size_of(model.kinds[0])
    kind = rng.choice(["basis", "tilted", "random", "ground"])
    if kind == "basis":
        states = rng.integers(0, d, n).tolist()
        return qad.mps.MPS.product(states, phys=d), f"basis {states}"
    if kind == "tilted":
        vectors = [v / np.linalg.norm(v) for v in rng.normal(size=(n, d))]
        return qad.mps.MPS.product(vectors), "tilted"
    if kind == "random":
        return qad.mps.MPS.random(n, int(rng.choice([2, 4])), phys=d, seed=int(rng.integers(1000))), "random"
    other = [(c * (0.5 + 0.5 * (k % 2)), *factors) for k, (c, *factors) in enumerate(model.terms())]
    h = exact.dense(model.kinds, other)
    h = (h + h.conj().T) / 2
    psi = np.linalg.eigh(h.toarray())[1][:, 0].reshape((d,) * n)
    return qad.mps.MPS.from_dense(psi), "ground"


def bond_of(model):
    """The bond of an exact state, and the default at least."""
    return max(16, exact.size_of(model.kinds[0]) ** (len(model.kinds) // 2))


def near(said, found, wanted, tolerance) -> list:
    """In words, if a number is off."""
    found = float(found)
    return [] if abs(found - wanted) <= tolerance else [f"{found:.10g} for {wanted:.10g}, {said}"]
