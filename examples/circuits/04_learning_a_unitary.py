"""A random unitary matrix is learned by a circuit of given gates.

The circuit runs on all basis states at once, a batch; its loss is the infidelity 1 - |tr(U^H V) / d|^2, which no global
phase changes.  Layers of general rotations and CNOTs in turn reach any unitary once they have as many angles as it has,
4^n - 1, and the loss then goes to zero.

    python examples/circuits/04_learning_a_unitary.py            # 3 qubits, 63 numbers to learn
    python examples/circuits/04_learning_a_unitary.py --short    # 2 qubits
"""

import argparse

import numpy as np

import qad


def random_unitary(d, seed):
    """Haar random: QR of a Gaussian matrix, phases fixed (F. Mezzadri, Notices AMS 54, 592 (2007))."""
    rng = np.random.default_rng(seed)
    q, r = np.linalg.qr(rng.normal(size=(d, d)) + 1j * rng.normal(size=(d, d)))
    return q * (r.diagonal() / np.abs(r.diagonal()))


def ansatz(theta, n):
    """Rotations of all qubits, then a CNOT between neighbours, one pair after the other; `theta` (layers + 1, n, 3)."""
    c = qad.Circuit(n, initial=np.eye(2**n))
    for layer, angles in enumerate(theta):
        if layer:
            pair = (layer - 1) % max(n - 1, 1)
            c.cx(pair, pair + 1)
        c.rz(angles[:, 0], range(n)).ry(angles[:, 1], range(n)).rz(angles[:, 2], range(n))
    return c


def infidelity(theta, target):
    """``1 - |tr(U^H V) / d|^2``; the states of the batch are the columns of V."""
    d = len(target)
    columns = ansatz(theta, d.bit_length() - 1).state().reshape(d, d)
    return 1 - qad.abs2((target.conj() * columns.T).sum() / d)


def learn(target, layers, seeds):
    """The best of a few random starts."""
    n = len(target).bit_length() - 1
    found = []
    for seed in range(seeds):
        start = np.random.default_rng(seed).uniform(-np.pi, np.pi, (layers + 1, n, 3))
        found.append(qad.optimize.minimize(lambda t: infidelity(t, target), start, maxiter=1500, gtol=1e-9))
        if found[-1].fun < 1e-12:
            break
    return min(found, key=lambda result: result.fun)


def plot(rows, enough, path):
    """Infidelity over iterations for every number of CNOTs, and at the end."""
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for k, (layers, result) in enumerate(rows):
        left.semilogy(np.maximum(result.history, 1e-16), color=plt.cm.viridis(k / len(rows)), label=f"{layers}")
    left.set(xlabel="iteration of L-BFGS", ylabel="infidelity", xlim=(0, 600))
    left.legend(title="CNOTs", ncols=2)
    right.semilogy([layers for layers, _ in rows], [max(result.fun, 1e-16) for _, result in rows], "o-")
    right.axvline(enough, color="gray", ls="--", lw=0.8)
    right.annotate(
        "as many angles\nas the unitary", (enough, 1e-8), xytext=(-50, 0), textcoords="offset points", ha="right"
    )
    right.set(xlabel="CNOTs", ylabel="infidelity at the end")
    for axis in (left, right):
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main(arguments=None):
    """Print infidelities, which are exactly 0 from some number of CNOTs on."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="2 qubits, no plot")
    parser.add_argument("--seed", type=int, default=0, help="of the unitary")
    parser.add_argument("--plot", default="learning_a_unitary.png", help="where the plot goes")
    chosen = parser.parse_args(arguments)
    n, counts = (2, [1, 2, 3]) if chosen.short else (3, [2, 5, 8, 11, 13, 14, 15])
    enough = int(
        np.ceil((4**n - 3 * n - 1) / 4)
    )  # a CNOT brings 4 new angles: V. V. Shende et al., PRA 69, 062321 (2004)
    target = random_unitary(2**n, chosen.seed)
    print(f"{n} qubits, {4**n - 1} numbers to learn: no fewer than {enough} CNOTs can be enough")
    print(f"{'CNOTs':>5} {'infidelity':>12} {'exact':>6} {'gradients':>10}")
    rows = []
    for layers in counts:
        result = learn(target, layers, seeds=4 if layers >= enough else 1)
        rows.append((layers, result))
        print(f"{layers:5} {result.fun:12.2e} {'0' if layers >= enough else '> 0':>6} {result.nfev:10}")
    if not chosen.short:
        try:
            plot(rows, enough, chosen.plot)
        except ImportError:
            print("for the plot: pip install matplotlib")
    return [result.fun for _, result in rows]


if __name__ == "__main__":
    main()
