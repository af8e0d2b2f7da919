"""The table of operations in `docs/linalg_specification.md`: `python -m benchmarks.linalg_table` runs it and writes it.

Every library computes gradient and Hessian-vector product of every row of `linalg_rows.py`; they are compared with
differences of values along three random directions. A library that raises on purpose is told from one
that lacks a rule by the kind of its error.
"""

import importlib
import importlib.metadata
import itertools
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from .linalg_rows import ROWS
from .peers import installed

PAGE = Path(__file__).parents[1] / "docs" / "linalg_specification.md"
BEGIN, END = "<!-- table: python -m benchmarks.linalg_table -->", "<!-- end of table -->"
TINY = 1e-155
GOOD = 1e-5  # relative, as differences go
STENCIL = ((-2, 1 / 12, -1 / 12), (-1, -2 / 3, 4 / 3), (0, 0, -5 / 2), (1, 2 / 3, 4 / 3), (2, -1 / 12, -1 / 12))


def library_of_qad():
    """NumPy's own functions, and qad's where NumPy has none."""
    import qad

    la = qad.linalg
    return SimpleNamespace(
        xp=np, la=np.linalg, constant=np.asarray, scaled=lambda z: z * TINY, lu=la.lu, expm=la.expm, logm=la.logm,
        sqrtm=la.sqrtm, schur=la.schur, solve_triangular=la.solve_triangular, funm_svd=lambda z: la.funm_svd(np.sin, z),
        funm_herm=lambda z: la.funm_herm(np.exp, (z + z.conj().mT) / 2), grad=qad.grad,
        hvp=lambda f, z, v: qad.hvp(f, (z,), (v,))[0],
    )  # fmt: skip


def library_of_torch():
    """PyTorch's eager tape."""
    import torch

    la = torch.linalg

    def grad(f):
        def gradient(z):
            x = torch.tensor(z, requires_grad=True)
            return torch.autograd.grad(f(x), x)[0].resolve_conj().numpy()

        return gradient

    def hvp(f, z, v):
        x = torch.tensor(z, requires_grad=True)
        g = torch.autograd.grad(f(x), x, create_graph=True)[0]
        along = torch.sum(torch.real(torch.conj(g) * torch.tensor(v)))
        h = torch.autograd.grad(along, x, allow_unused=True)[0] if along.requires_grad else None
        return 0 * v if h is None else h.resolve_conj().numpy()

    return SimpleNamespace(
        xp=torch, la=la, constant=torch.tensor, scaled=lambda z: z * TINY, lu=la.lu, expm=la.matrix_exp,
        solve_triangular=lambda a, b: la.solve_triangular(a, b, upper=True), grad=grad, hvp=hvp,
    )  # fmt: skip


def library_of_jax():
    """JAX, not jitted, in double precision; its gradients are conjugates."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jnp, sp = jax.numpy, jax.scipy.linalg

    def hvp(f, z, v):
        return np.conj(jax.jvp(jax.grad(f), (jnp.asarray(z),), (jnp.asarray(v),))[1])

    return SimpleNamespace(
        xp=jnp, la=jnp.linalg, constant=jnp.asarray, scaled=lambda z: z * TINY, lu=sp.lu, expm=sp.expm, sqrtm=sp.sqrtm,
        solve_triangular=sp.solve_triangular, schur=sp.schur,
        grad=lambda f: lambda z: np.conj(jax.grad(f)(jnp.asarray(z))), hvp=hvp,
    )  # fmt: skip


def library_of_autograd():
    """HIPS autograd, reverse over reverse; its gradients are conjugates."""
    import autograd

    anp, sp = (importlib.import_module(f"autograd.{name}") for name in ("numpy", "scipy.linalg"))

    def hvp(f, z, v):
        first = autograd.grad(f)
        return np.conj(autograd.grad(lambda x: anp.real(anp.sum(first(x) * v)))(z))

    return SimpleNamespace(
        xp=anp, la=anp.linalg, constant=np.asarray, scaled=lambda z: z * TINY, sqrtm=sp.sqrtm,
        solve_triangular=sp.solve_triangular, grad=lambda f: lambda z: np.conj(autograd.grad(f)(z)), hvp=hvp,
    )  # fmt: skip


def difference(f, z, v, order):
    """First or second derivative of `f` along `v`, by five points."""
    h = 5e-4 if order == 1 else 2e-3
    return sum(w[order] * float(f(z + w[0] * h * v)) for w in STENCIL) / h**order


def directions(z):
    """Three directions, the same for every library."""
    rng = np.random.default_rng(3)
    return [rng.standard_normal(z.shape) + 1j * rng.standard_normal(z.shape) for _ in range(3)]


def verdict(library, f, reference, z, order):
    """What a library makes of a row, in a word."""
    apart, size = 0.0, 0.0
    try:
        for v in directions(z):
            expected = difference(reference, z, v, order)
            g = library.grad(f)(z) if order == 1 else library.hvp(f, z, v)
            found = np.vdot(g, v).real
            if not np.isfinite(found):
                return "NaN"
            apart, size = max(apart, abs(found - expected)), max(size, abs(expected))
    except Exception as error:  # whatever a library throws
        return refusal(error)
    return "ok" if apart <= GOOD * max(size, 1e-2) else f"**wrong** ({apart / max(size, 1e-2):.0e})"


def refusal(error):
    """An error on purpose, which speaks of the loss or of the point, or the lack of a function or of its rule."""
    names = [base.__name__ for base in type(error).__mro__]
    on_purpose = "QadError" in names and "MissingRuleError" not in names
    return "raises" if on_purpose or re.search("ill-defined|only valid", str(error)) else "missing"


def libraries():
    """qad, and the peers that are installed."""
    known = {"torch": library_of_torch, "jax": library_of_jax, "autograd": library_of_autograd}
    return {"qad": library_of_qad()} | {name: known[name]() for name in sorted(known) if name in installed()}


def lines():
    """The table, in Markdown."""
    found = libraries()
    truth = found["qad"]
    yield f"| operation | {' | '.join(found)} |"
    yield "|---" * (1 + len(found)) + "|"
    for group, rows in itertools.groupby(ROWS, key=lambda row: row[0]):
        yield f"| *{group}* |" + " |" * len(found)
        for _, name, f, z in rows:
            cells = []
            for library in found.values():
                first, second = (
                    verdict(library, lambda x, L=library, f=f: f(L, x), lambda x, f=f: f(truth, x), z, order)
                    for order in (1, 2)
                )
                cells.append(first if first == second else f"{first} / {second}")
            yield f"| {name} | {' | '.join(cells)} |"


def main():
    """Write the table between its marks on the page."""
    warnings.simplefilter("ignore")
    with np.errstate(all="ignore"):
        table = "\n".join(lines())
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scipy", *installed()))
    page = PAGE.read_text("utf-8")
    head, rest = page.split(BEGIN)
    tail = rest.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n\n{table}\n\nRun with {versions}.\n\n{END}{tail}", "utf-8")
    print(table)


if __name__ == "__main__":
    main()
