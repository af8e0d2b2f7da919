"""``qad ground-state``: a model, its ground state, and a plot of the search."""

from __future__ import annotations

import inspect
import sys
from ast import literal_eval
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from qad.commands import seed
from qad.core.errors import ArgumentError
from qad.installed import require
from qad.showing.picture import SUFFIXES

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import Any

MODELS = ("heisenberg", "xxz", "xyz", "ising", "long_range_ising", "j1j2", "blbq", "aklt", "bose_hubbard", "hubbard",
          "tj", "kitaev_chain")  # fmt: skip


def arguments(parser: ArgumentParser) -> None:
    """What can be asked."""
    add = parser.add_argument
    add("--model", required=True, choices=MODELS, metavar="MODEL", help=", ".join(MODELS))
    add("--n", type=int, required=True, help="sites, or columns of a ladder or cylinder")
    add("--legs", type=int, help="a ladder of so many legs")
    add("--around", type=int, help="a cylinder of so many sites around")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="a coupling of the model, such as g=1.0")
    add("--bond", type=int, default=32, help="largest bond dimension (default 32)")
    add("--method", default="auto", help="as in qad.mps.ground_state (default auto)")
    add("--conserve", type=names, help="what is conserved: Sz, N, or both as N,Sz")
    add("--sector", type=charges, help="the charge of the state, or charges as 4,0")
    add("--tol", type=float, default=1e-10, help="where the search ends (default 1e-10)")
    add("--maxiter", type=int, default=2000, help="most steps (default 2000)")
    add("--seed", type=seed, default=0, help="of the random start (default 0)")
    add("--checkpoint", help="a file to go on from, and to write after every step")
    add("--save", help="write the state into a file .npz")
    add("--plot", help="plot the energy after every step into a file .png, .svg or .pdf")
    add("--quiet", action="store_true", help="print the energy alone")


def run(args: Namespace) -> int:
    """Search, print, plot."""
    from qad.mps import ground_state

    H = operator(args)
    check_file("--save", args.save)
    check_file("--plot", args.plot, SUFFIXES)
    if args.plot is not None:
        require("a plot of a search", "matplotlib")
    begin = perf_counter()
    found = ground_state(
        H, bond=args.bond, method=args.method, conserve=args.conserve, sector=args.sector, tol=args.tol,
        maxiter=args.maxiter, seed=args.seed, checkpoint=args.checkpoint, progress=not args.quiet,
    )  # fmt: skip
    seconds = perf_counter() - begin
    if args.save is not None:
        found.state.save(args.save)
    if args.plot is not None:
        from qad.viz import history

        history(found).save(args.plot)
    print(f"energy {found.energy:.12f}")
    if not args.quiet:
        print(f"per site {found.energy / len(H):.12f}")
        print(f"variance {found.variance:.2e}")
        print(f"state {found.state!r}")
        print(f"{found.method}: {len(found.history) - 1} steps, {seconds:.1f} s, {found.message}")
        if args.plot is not None:
            print(f"the search is drawn in {args.plot}")
    if not found.converged:
        print(f"qad ground-state: {found.message}", file=sys.stderr)
    return 0 if found.converged else 1


def names(words: str) -> str | tuple[str, ...]:
    """One name, or several."""
    return tuple(words.split(",")) if "," in words else words


def charges(words: str) -> int | tuple[int, ...]:
    """One whole number, or several."""
    numbers = tuple(map(int, words.split(",")))
    return numbers if len(numbers) > 1 else numbers[0]


def operator(args: Namespace) -> Any:
    """The Hamiltonian that the words describe."""
    from qad import mps

    if args.legs is not None and args.around is not None:
        raise ArgumentError("give --legs for a ladder, or --around for a cylinder, not both")
    lattice = args.n
    if args.legs is not None:
        lattice = mps.Lattice.ladder(args.n, args.legs)
    if args.around is not None:
        lattice = mps.Lattice.cylinder(args.n, args.around)
    model, given = getattr(mps, args.model), dict(map(setting, args.set))
    signature = inspect.signature(model)
    try:
        signature.bind(lattice, **given)
    except TypeError as error:
        known = ", ".join(list(signature.parameters)[1:])
        raise ArgumentError(f"{args.model}: {error}; --set takes {known}") from None
    return model(lattice, **given)


def setting(words: str) -> tuple[str, Any]:
    """``NAME=VALUE`` as a pair."""
    name, equals, value = words.partition("=")
    if not (name.isidentifier() and equals and value):
        raise ArgumentError(f"--set takes NAME=VALUE, such as g=1.0, not {words!r}")
    try:
        return name, literal_eval(value.capitalize())
    except (ValueError, SyntaxError):
        raise ArgumentError(f"--set {name}: {value!r} is no number") from None


def check_file(option: str, path: str | None, suffixes: Sequence[str] = ()) -> None:
    """Raise before the search, not after it, if a file that is asked for cannot be written."""
    if path is None:
        return
    if suffixes and Path(path).suffix.lower() not in suffixes:
        raise ArgumentError(f"{option} writes {', '.join(suffixes)}, not {path!r}")
    if not Path(path).absolute().parent.is_dir():
        raise ArgumentError(f"{option}: there is no folder {str(Path(path).parent)!r}")
    if Path(path).is_dir():
        raise ArgumentError(f"{option}: {path!r} is a folder; name a file in it")
