"""Samplers: Markov chains by Metropolis, draws of wave functions that can be drawn from, and sums over all states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.showing.progress import bar_for
from qad.vmc.amplitudes import BATCH, amplitudes, check_nonzero
from qad.vmc.moves import move
from qad.vmc.space import as_space
from qad.vmc.statistics import Samples

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from qad.typing import Seed, Tree
    from qad.vmc.space import Space
    from qad.vmc.wave_functions import LogPsi

    Draw: TypeAlias = Callable[[LogPsi, Tree], Samples]
    Sampler: TypeAlias = "str | Metropolis | Direct"

STUCK = "no chain may stay there; start where the wave function lives (a space with totals), or add a small amplitude"
SETTLING = 64  # chains of a search that find where psi is large, before they become many by copies
LONG, FEWEST = 64, 16  # samples of each chain that is judged, and chains that tell an error


@dataclass(frozen=True)
class Metropolis:
    """Markov chains that accept moves by Metropolis' rule, all of them as one batch.

    Parameters
    ----------
    move : str or callable, optional
        "flips", "exchanges" or "hops", by default what suits the space; or ``move(configurations, rng)``, which
        returns the proposed configurations, and with them the logarithms of ``q(back) / q(there)`` unless the move is
        symmetric.
    chains : int, optional
        By default as many as samples, and 1024 at most, for walks that go on from step to step of a search;
        where one walk has to show that it is long enough one for 64 samples, and 16 at least.
    sweep : int, optional
        Moves between two samples, by default one for each site, or one more: an odd number.
    discard : int
        Sweeps before the first sample of all.  In a search 64 chains take them, which then are copied.
    temperatures : sequence of float
        Of replicas of each chain, the first of them 1: they go by ``|psi|^(2 / temperature)`` and exchange their
        configurations with their neighbours after every sweep (R. H. Swendsen and J.-S. Wang, PRL 57, 2607 (1986)).

    Examples
    --------
    >>> import qad
    >>> found = qad.vmc.sample(lambda p, s: p * s.sum(-1), 0.1, qad.vmc.Spins(6), 4000, qad.vmc.Metropolis(chains=500))
    >>> found.configurations.shape, bool(found.acceptance > 0.5)
    ((4000, 6), True)
    """

    move: str | Callable[[np.ndarray, np.random.Generator], Any] | None = None
    chains: int | None = None
    sweep: int | None = None
    discard: int = 20
    temperatures: Sequence[float] = (1.0,)

    def __post_init__(self) -> None:
        for name, least in (("chains", 1), ("sweep", 1), ("discard", 0)):
            if getattr(self, name) is not None:
                site_count(getattr(self, name), least, name)
        if not self.temperatures or self.temperatures[0] != 1 or not min(self.temperatures) > 0:
            raise ArgumentError(f"temperatures are positive, and the first is 1, but got {self.temperatures!r}")

    def begin(self, space: Space, samples: int, rng: np.random.Generator, search: bool = False) -> MetropolisWalk:
        """A walk that takes that many samples at a time, or the next multiple of the number of chains.

        That of a search has many chains, copied from few that have settled; any other has few, which can be judged.
        """
        chains = self.chains or min(samples, BATCH, BATCH if search else max(FEWEST, samples // LONG))
        if samples < chains:
            raise ArgumentError(f"{samples} samples of {chains} chains: take at least one sample of each")
        return MetropolisWalk(self, space, chains, -(-samples // chains), rng, SETTLING if search else chains)


Metropolis.__init__ = keywords_told(Metropolis.__init__)


class MetropolisWalk:
    """A walk of `Metropolis` that goes on from call to call, and takes some steps of each chain in each.

    Attributes
    ----------
    rows : int array (temperatures, chains, n)
        Where the chains are.
    fresh : bool
        Whether nothing has been drawn yet, and there are only as many chains as settle.
    """

    def __init__(
        self, sampler: Metropolis, space: Space, chains: int, steps: int, rng: np.random.Generator, settling: int
    ):
        self.chains: int = chains
        self.steps: int = steps
        self.discard: int = sampler.discard
        self.rng: np.random.Generator = rng
        self.sweep: int = sampler.sweep or space.n | 1  # an even number of flips would keep a parity
        self.powers: np.ndarray = 1 / np.array(sampler.temperatures, float)
        self.propose: Any = move(space, sampler.move)
        started = min(chains, settling)
        self.rows: np.ndarray = space.random(len(self.powers) * started, rng).reshape(-1, started, space.n)
        self.fresh: bool = True

    def __call__(self, psi: LogPsi, params: Tree) -> Samples:
        """The next samples."""
        if self.fresh:
            self.walked(psi, params, self.discard)
            copies = -(-self.chains // self.rows.shape[1])
            self.rows, self.fresh = np.tile(self.rows, (1, copies, 1))[:, : self.chains].copy(), False
        found, logs, acceptance = self.walked(psi, params, self.steps)
        check_nonzero(logs, found, STUCK)
        return Samples(found, logs, self.chains, None, acceptance)

    def walked(self, psi: LogPsi, params: Tree, steps: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Configurations and their log psi after each of some sweeps, and the share of accepted moves."""
        rows, chains = self.rows.reshape(-1, self.rows.shape[-1]), self.rows.shape[1]
        logs, accepted, kept = amplitudes(psi, params, rows), 0, [(rows[:0], np.empty(0))]
        with bar_for(label="samples", total=steps) as bar:
            for step in range(steps):
                for _ in range(self.sweep):
                    accepted += self.moved(psi, params, rows, logs)
                if len(self.powers) > 1:
                    self.exchange(logs.reshape(-1, chains), step % 2)
                kept.append((rows[:chains].copy(), logs[:chains].copy()))
                bar.update()
        found, logs = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        return found, logs, accepted / max(1, len(rows) * self.sweep * steps)

    def moved(self, psi: LogPsi, params: Tree, rows: np.ndarray, logs: np.ndarray) -> int:
        """Move all chains, in place; how many did move."""
        proposed = self.propose(rows, self.rng)
        proposed, ratio = proposed if isinstance(proposed, tuple) else (proposed, 0.0)
        trial = amplitudes(psi, params, proposed)
        with np.errstate(invalid="ignore"):
            gains = 2 * np.repeat(self.powers, len(rows) // len(self.powers)) * (trial - logs).real + ratio
        accept = ~(gains < np.log(self.rng.random(len(rows))))  # also nan: what leads from psi = 0 to psi = 0
        rows[accept] = proposed[accept]
        logs[accept] = trial[accept]
        return np.count_nonzero(accept)

    def exchange(self, logs: np.ndarray, first: int) -> None:
        """Let replicas of neighbouring temperatures exchange their places, pairs from the `first` on."""
        for k in range(first, len(self.powers) - 1, 2):
            gains = 2 * (self.powers[k] - self.powers[k + 1]) * (logs[k + 1] - logs[k]).real
            accept = np.log(self.rng.random(len(gains))) < gains
            for replicas in (self.rows, logs):
                replicas[k, accept], replicas[k + 1, accept] = replicas[k + 1, accept], replicas[k, accept]


@dataclass(frozen=True)
class Direct:
    """Independent samples of a wave function that can be drawn from, as chains and autoregressive networks can.

    Parameters
    ----------
    draw : callable
        ``draw(params, samples, rng)`` returns configurations (samples, n), distributed as ``|psi|^2``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> def draw(field, samples, rng):  # of independent spins
    ...     return np.where(rng.random((samples, 6)) < 1 / (1 + np.exp(-4 * field)), 1, -1)
    >>> found = qad.vmc.sample(lambda p, s: p * s.sum(-1), 0.1, qad.vmc.Spins(6), 1000, qad.vmc.Direct(draw))
    >>> mean = found.estimate(found.configurations.mean(1))
    >>> bool(abs(mean.mean - np.tanh(0.2)) < 4 * mean.error)
    True
    """

    draw: Callable[[Any, int, np.random.Generator], Any]

    def begin(self, space: Space, samples: int, rng: np.random.Generator, search: bool = False) -> Draw:
        """As `Metropolis.begin`."""

        def draw(psi, params):
            rows = space.check(self.draw(params, samples, rng))
            logs = amplitudes(psi, params, rows)
            check_nonzero(logs, rows, "draw must not return it")
            return Samples(rows, logs, len(rows))

        return draw


class Exact:
    """All configurations of a space of at most 2^20, with their probabilities: sums without noise."""

    def begin(self, space: Space, samples: int, rng: np.random.Generator, search: bool = False) -> Draw:
        """As `Metropolis.begin`; how many samples are wanted does not matter."""
        states = space.states()

        def draw(psi, params):
            logs = amplitudes(psi, params, states)
            if logs.real.max() == -np.inf:
                raise ArgumentError("psi is 0 (log_psi is -inf) for all configurations")
            weights = np.exp(2 * (logs.real - logs.real.max()))
            return Samples(states, logs, len(logs), weights / weights.sum())

        return draw


NAMED: dict[str, Metropolis | Exact] = {"metropolis": Metropolis(), "exact": Exact()}


def begun(sampler: Any, space: Space, samples: int, rng: np.random.Generator, search: bool = False) -> Draw:
    """What draws samples by the sampler of a name, or by that which is given."""
    if isinstance(sampler, str) and sampler in NAMED:
        sampler = NAMED[sampler]
    if not hasattr(sampler, "begin"):
        raise ArgumentError(f"sampler is 'metropolis', 'exact', Metropolis(...) or Direct(...), not {sampler!r}")
    return sampler.begin(as_space(space), site_count(samples, 1, "samples"), rng, search)


@keywords_told
def sample(
    log_psi: LogPsi,
    params: Tree,
    space: Space,
    samples: int = 1024,
    sampler: Sampler = "metropolis",
    seed: Seed = 0,
) -> Samples:
    """Configurations distributed as ``|psi|^2``.

    Parameters
    ----------
    log_psi : callable
        ``log_psi(params, configurations)`` returns the logarithms (B,) of the amplitudes, real or complex, of
        configurations (B, n) of whole numbers; minus infinity where psi is 0.
    params : pytree
    space : Space
    samples : int
        How many; at least one of each chain, and rounded up to a multiple of their number.
    sampler : "metropolis", "exact", Metropolis or Direct
    seed : int or numpy.random.Generator

    Returns
    -------
    Samples

    Raises
    ------
    ArgumentError
        If psi is nan, infinite, or 0 where samples are, with the configuration; if there are fewer samples than chains;
        if a move leaves the space; if there are too many states for exact sums.
    ShapeError
        If `log_psi` returns anything but one number for each configuration.

    Examples
    --------
    >>> import qad
    >>> found = qad.vmc.sample(lambda p, s: p * s[:, 0] * s[:, 1], 1.0, qad.vmc.Spins(2, total=0), 100)
    >>> set(found.configurations.sum(1).tolist())
    {0}
    """
    return begun(sampler, space, samples, np.random.default_rng(seed))(log_psi, params)
