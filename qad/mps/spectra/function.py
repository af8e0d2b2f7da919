"""Spectral functions: what an operator on one site makes of a state, followed in real time on all sites."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.keywords import keywords_told
from qad.mps.chain.canonical import is_recorded
from qad.mps.chain.chain import site_count
from qad.mps.chain.checks import as_operator, check_kind, check_operator
from qad.mps.chain.gates import check_sites
from qad.mps.chain.gauge import check_open
from qad.mps.chain.state import MPS
from qad.mps.charges.parts import parts_of
from qad.mps.evolve.evolution import evolve, real_time
from qad.mps.measure.correlators import pair_of
from qad.mps.measure.observables import energy as energy_of
from qad.mps.measure.observables import variance
from qad.mps.spectra.overlaps import after, overlaps
from qad.mps.spectra.prediction import continued, transformed
from qad.showing.painting import new_figure
from qad.showing.picture import Picture
from qad.symmetric.generic import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.mps.charges.quantities import Kinds
    from qad.mps.operators.mpo import MPO
    from qad.mps.operators.opsum import OpSum
    from qad.typing import ArrayLike

REACH = 4.0  # standard deviations of the Gaussian window in time, beyond which a series has no weight: exp(-8)
SIZE = 8.6, 3.4  # inches


@dataclass(frozen=True)
class SpectralFunction:
    """What `spectral_function` found.

    Attributes
    ----------
    correlations : complex array (times, sites)
        ``G(x, t)``, from time 0 on.
    spectrum : array (momenta, frequencies)
        ``S(q, w)``.
    times, momenta, frequencies : arrays
    sum_rule : array (momenta,)
        ``S(q)``, the static correlations of the site with all others: what `spectrum` gives when it is integrated over
        all frequencies.
    site : int
        Where B acted.
    broadening : float
        Standard deviation of the Gaussian with which `spectrum` is convolved.
    discarded : float
        Weights that the evolution cut off (`qad.mps.Evolution`).
    """

    correlations: np.ndarray = field(repr=False)
    spectrum: np.ndarray = field(repr=False)
    times: np.ndarray = field(repr=False)
    momenta: np.ndarray = field(repr=False)
    frequencies: np.ndarray = field(repr=False)
    sum_rule: np.ndarray = field(repr=False)
    site: int
    broadening: float
    discarded: float

    def plot(self) -> Picture:
        """The light cone, ``|G(x, t)|``, beside ``|S(q, w)|``.

        Returns
        -------
        Picture

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.

        Examples
        --------
        >>> import numpy as np, qad
        >>> H, up = qad.mps.ising(8, g=3.0), qad.mps.MPS.product([0] * 8)
        >>> psi = qad.mps.ground_state(H, bond=8).state
        >>> q, w = np.linspace(-np.pi, np.pi, 9), np.linspace(0, 10, 11)
        >>> qad.mps.spectral_function(psi, H, "Z", "Z", q, w, time=1.0, steps=10).plot()
        <Picture: light cone from site 4, and spectrum of 9 momenta and 11 frequencies>
        """
        figure = new_figure(*SIZE, "a plot of a spectral function")
        cone, spectrum = figure.subplots(1, 2)
        places, sizes = np.arange(self.correlations.shape[1]), np.abs(self.spectrum.T)
        shown = cone.pcolormesh(places, self.times, np.abs(self.correlations), shading="nearest")
        figure.colorbar(shown, ax=cone, label="|G(x, t)|")
        cone.set(xlabel="site", ylabel="time")
        shown = spectrum.pcolormesh(self.momenta, self.frequencies, sizes, shading="nearest", cmap="magma")
        figure.colorbar(shown, ax=spectrum, label="|S(q, w)|")
        spectrum.set(xlabel="momentum", ylabel="frequency")
        counts = f"{len(self.momenta)} momenta and {len(self.frequencies)} frequencies"
        return Picture(figure, f"light cone from site {self.site}, and spectrum of {counts}")


@keywords_told
def spectral_function(
    psi: MPS, H: MPO | OpSum, one: str | ArrayLike, other: str | ArrayLike, momenta: ArrayLike, frequencies: ArrayLike,
    *, time: float, steps: int, energy: float | None = None, site: int | None = None, method: str = "tdvp2",
    bond: int = 64, cutoff: float | None = None, prediction: bool | int = True, broadening: float | None = None,
    kind: Kinds = None,
) -> SpectralFunction:  # fmt: skip
    """``S(q, w)`` of a finite chain, from ``G(x, t) = exp(i E t) <psi| A_x exp(-i H t) B_j |psi>``.

    Parameters
    ----------
    psi : MPS
        An eigenstate of `H`, such as ``ground_state(H).state``; open, of any norm.
    H : MPO or OpSum
        Hermitian.
    one, other : arrays (phys, phys), a sequence of one for each site, or names
        A and B, as in `correlations`: two fermionic names get their Jordan-Wigner strings.
    momenta : array (m,)
        In units of one over the distance of neighbours.  Multiples of ``2 pi / n`` feel least that correlations are
        cut off at the ends.
    frequencies : array (k,)
        In units of `H`, of magnitude ``pi steps / time`` at most.
    time : float
        Positive, in inverse units of `H`: until when the state is evolved.  What leaves site j should not come back
        from the ends by then.
    steps : int
        Of the evolution; at the end of each one correlations are taken.
    energy : float, optional
        E; by default that of `psi`.
    site : int, optional
        j; by default the middle, ``n // 2``.
    method, bond, cutoff
        As in `evolve`.
    prediction : bool or int
        Whether correlations of each momentum are continued to later times by linear prediction, until
        ``4 / broadening``; or of how many exponentials, at most half of `steps`.  Default: half of `steps`.
    broadening : float, optional
        Standard deviation of the Gaussian in frequency with which the result is convolved.  Default: ``1 / time`` with
        prediction, ``4 / time`` without.
    kind : str, Site, or a sequence of them, optional
        What stands on the sites, where names are looked up; by default what the state knows, or spins.

    Returns
    -------
    SpectralFunction
        Its `spectrum` is real where A is the adjoint of B: then it is averaged over both directions of ``x - j``.

    Raises
    ------
    ArgumentError
        If `psi` is no eigenstate, so that `time` times the spread of its energy is above 1; for operators of which only
        one is fermionic; and for parameters out of range.
    ShapeError
        If operators or chains do not fit, `psi` is periodic, or momenta and frequencies are not rows of numbers.
    GradientTypeError
        Where a derivative is asked for.

    Notes
    -----
    ``S(q, w) = sum_x exp(-i q (x - j)) int dt exp(i w t) G(x, t) / 2 pi``, whose integral over w is `sum_rule`.  Times
    before 0 are the conjugate of those after it where all is real, and else a second evolution.  A step costs one sweep
    for all x.  S. R. White and I. Affleck, PRB 77, 134437 (2008); T. Barthel, U. Schollwoeck and S. R. White,
    PRB 79, 245101 (2009).

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.ising(12, g=3.0)
    >>> psi = qad.mps.ground_state(H, bond=8).state
    >>> q, w = np.array([0.0, np.pi]), np.linspace(0, 12, 241)
    >>> found = qad.mps.spectral_function(psi, H, "Z", "Z", q, w, time=4.0, steps=40)
    >>> [round(float(w[row.argmax()]), 1) for row in found.spectrum]  # 2 |g - 1| and 2 |g + 1|: one magnon
    [4.0, 8.0]
    """
    steps, time = site_count(steps, 4, "steps"), real_time(time)
    H, momenta, frequencies = checked(psi, H, momenta, frequencies, steps, time)
    ones, others, _, string = pair_of(psi, one, other, None, kind)
    (site,) = check_sites(psi, len(psi) // 2 if site is None else site)
    order, width = resolution(prediction, broadening, steps, time)
    psi = psi.normalized()
    check_eigenstate(psi, H, time)
    level = float(energy_of(psi, H)) if energy is None else energy
    how = {"steps": steps, "method": method, "bond": bond, "cutoff": cutoff}
    follow = partial(followed, psi, H, ones, others[site], site, string, level, how)
    forward, discarded = follow(time)
    sign = (mirrored([*psi, *H]) == 1) * mirrored(ones) * mirrored([others[site]])
    backward, more = (sign * forward.conj(), 0.0) if sign else follow(-time)
    waves = np.exp(-1j * momenta[:, None] * (np.arange(len(psi)) - site))
    series, step = [waves @ rows.T for rows in (forward, backward)], time / steps
    if order:
        length = 1 + int(np.ceil(REACH / (width * step)))
        series = [np.stack([continued(row, length, order) for row in rows]) for rows in series]
    found, static = transformed(*series, step, width, frequencies), waves @ forward[0]
    if all(np.array_equal(a, b.conj().T) for a, b in zip(ones, others, strict=True)):
        found, static = found.real, static.real
    times = step * np.arange(steps + 1)
    return SpectralFunction(forward, found, times, momenta, frequencies, static, site, width, discarded + more)


def checked(
    psi: MPS, H: MPO | OpSum, momenta: Any, frequencies: Any, steps: int, time: float
) -> tuple[MPO, np.ndarray, np.ndarray]:  # fmt: skip
    """The operator, and momenta and frequencies as arrays; raises where they make no sense."""
    check_kind(psi, MPS)
    H = as_operator(H, psi)
    if is_recorded(psi) or is_recorded(H.tensors):
        raise GradientTypeError("spectral_function takes plain numbers: derivatives are those of qad.mps.evolve")
    check_operator(psi, H)
    check_open(psi)
    if not time > 0:
        raise ArgumentError(f"time is positive, not {time!r}: times before 0 are there by themselves")
    momenta, frequencies = np.asarray(momenta), np.asarray(frequencies)
    for values in (momenta, frequencies):
        if values.ndim != 1 or not values.size or values.dtype.kind not in "iuf" or not np.isfinite(values).all():
            raise ShapeError(f"momenta and frequencies are rows of real numbers, not {values!r}")
    if np.abs(frequencies).max() * time > np.pi * steps * (1 + 1e-12):
        raise ArgumentError(
            f"steps of {time / steps:.3g} resolve frequencies up to {np.pi * steps / time:.3g}, not "
            f"{np.abs(frequencies).max():.3g}: give more steps"
        )
    return H, momenta, frequencies


def check_eigenstate(psi: MPS, H: MPO, time: float) -> None:
    """Raise where a state does not stay what it is for a time."""
    spread = float(max(variance(psi, H), 0.0)) ** 0.5
    if spread * time > 1:
        raise ArgumentError(
            f"the energy of psi spreads over {spread:.2g}, so that it is no eigenstate for a time of {time:g}: give "
            "ground_state(H).state, with a larger bond, or a shorter time"
        )


def resolution(prediction: bool | int, broadening: float | None, steps: int, time: float) -> tuple[int, float]:
    """The number of exponentials of the prediction, 0 for none, and the width of the Gaussian in frequency."""
    order = steps // 2 if prediction is True else site_count(prediction or 0, 0, "prediction")
    if order > steps // 2:
        raise ArgumentError(f"prediction={order} exponentials cannot be fitted to {steps} steps: half of them at most")
    width = (1.0 if order else REACH) / time if broadening is None else broadening
    if not np.ndim(width) == 0 or not width > 0:
        raise ArgumentError(f"broadening is a positive number, not {width!r}")
    return order, float(width)


def mirrored(arrays: Iterable[Any]) -> int:
    """1 where all numbers are real, -1 where all are imaginary, else 0."""
    values = [numbers(x) for x in arrays]
    if not any(x.imag.any() for x in values):
        return 1
    return 0 if any(x.real.any() for x in values) else -1


def followed(
    psi: MPS, H: MPO, ones: Sequence[Any], matrix: Any, site: int, string: Any, level: float, how: dict[str, Any],
    time: float,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """``G(x, t)`` at so many steps up to a time, and the weight that was cut off; part by part of B."""
    times = np.linspace(0.0, time, how["steps"] + 1)
    found, discarded = np.zeros((len(times), len(psi)), complex), 0.0
    for charge, part in parts_of(matrix, site, psi.conserved).items():
        state = after(psi, part, charge, site, string)
        size = float(state.norm())
        if size == 0:
            continue
        rows = [overlaps(psi, ones, state, charge, string) / size]

        def take(now: MPS, _: float, rows: list[Any] = rows, charge: Any = charge) -> None:
            rows.append(overlaps(psi, ones, now, charge, string))

        discarded += evolve(state, H, time, callback=take, **how).discarded
        found += size * np.stack(rows)
    return found * np.exp(1j * level * times)[:, None], discarded
