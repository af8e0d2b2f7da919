"""Keywords that other packages use, answered with the names that they have here."""

from __future__ import annotations

import inspect
import warnings
from difflib import get_close_matches
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["keywords_told"]

# what a function here may call it, in the order of likelihood: what others call it
LENGTHS = "dt step tau delta_t time_step timestep"  # of a step, where we take how many
WORDS: dict[tuple[str, ...], str] = {
    ("chi",): "chi_max max_chi env_chi boundary_chi environment_bond",
    ("bond",): "max_bond bonds chi D chi_max max_chi bond_dim bond_dims bond_dimension maxdim",
    ("kind",): "sites kinds",
    ("sites",): "places",
    ("steps",): f"{LENGTHS} n_steps nsteps num_steps n_iter n_iters iterations maxiter",
    ("rate",): "lr learning_rate step_size alpha",
    ("tol", "gtol", "rtol"): "tolerance eps epsilon atol rtol energy_tol max_E_err conv tol",
    ("cutoff",): "svd_min svd_cutoff trunc_cut truncation threshold trunc_tol",
    ("maxiter",): "sweeps nsweeps max_sweeps n_sweeps max_iter n_iter niter iterations max_steps maxsteps nsteps steps",
    ("progress",): "verbose verbosity disp show_progress",
    ("start",): "psi psi0 init initial initial_state guess x0",
    ("params",): "x0 init initial",
    ("conserve",): "symmetry symmetries conserved charges qn qns quantum_numbers conserve_qns",
    ("sector",): "charge total_charge total_sz",
    ("time",): "t T total_time t_max tmax",
    ("method",): "algorithm optimizer solver engine order",
    ("seed",): "rng key random_state",
    ("samples",): "n_samples nsamples num_samples shots",
    ("chains",): "n_chains n_chains_per_rank walkers n_walkers",
    ("sweep",): "n_sweeps sweep_size steps_per_sweep",
    ("discard",): "n_discard n_discard_per_chain burn_in burnin warmup n_thermalize",
    ("shift",): "diag_shift damping",
    ("memory_limit",): "chunk_size",
    ("most",): "n_max nmax",
    ("total",): "total_sz sz n_bosons n_fermions n_particles",
}  # fmt: skip
RENAMED = {"max_bond": "bond", "sites": "kind", "places": "sites"}  # as they were called before they were one spelling
NOTES = {"total_sz": ", which counts 2 Sz", "chunk_size": ", in bytes"}
NOTES |= dict.fromkeys(LENGTHS.split(), ", how many: the time over the length of a step")
NO_RATE = "its steps find their own length, and qad.optimize.adam takes rate="


def keywords_told(function: F) -> F:
    """Let a function answer a keyword that it does not take with the one that is meant; our old ones still work.

    Only a call that Python has refused is looked at.
    """

    @wraps(function)
    def told(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__.tb_next is None:  # raised by this call, not within the function
                known = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
                if renamed := in_new_words(kwargs, known):
                    changed = [pair for pair in zip(renamed, kwargs, strict=True) if pair[0] != pair[1]]
                    new, old = map(", ".join, zip(*changed, strict=True))
                    warnings.warn(
                        f"{function.__name__}: {new}= is how keywords are spelled now, not {old}=",
                        DeprecationWarning,
                        stacklevel=2,
                    )
                    return function(*args, **renamed)
                for name in [name for name in kwargs if name not in known]:
                    called = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
                    error.args = (f"{called} takes no keyword {name!r}: {answer(name, known)}",)
            raise

    return told


def in_new_words(given: dict[str, Any], known: Collection[str]) -> dict[str, Any] | None:
    """The keywords of a call as they are spelled now, where it has old ones and nothing else that is unknown."""
    for old in (RENAMED.keys() & given.keys(), RENAMED.keys() & given.keys() - {*known}):
        found = {RENAMED[name] if name in old else name: value for name, value in given.items()}
        if old and len(found) == len(given) and found.keys() <= {*known}:
            return found
    return None


def answer(name: str, known: Collection[str]) -> str:
    """What to write instead of a keyword."""
    found = [ours for several, theirs in WORDS.items() if name in theirs.split() for ours in several if ours in known]
    found = found or get_close_matches(name, known, 1)
    if found:
        return f"write {found[0]}={NOTES.get(name, '')}"
    return NO_RATE if name in WORDS["rate",].split() else f"it takes {', '.join(known)}"
