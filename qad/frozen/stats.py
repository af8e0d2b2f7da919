"""How often a frozen function was recorded, replayed, and run itself."""

from dataclasses import dataclass, field


@dataclass
class Stats:
    """How often a frozen function was recorded and replayed.

    Attributes
    ----------
    recordings, replays, guard_failures : int
    eager : int
        Calls that the function itself answered: a step raised, floating-point errors raise, or it uses a recorded
        Tensor that is not among its arguments.
    reasons : list of str
        Why each recording after the first was made, and why one was not kept.
    """

    recordings: int = 0
    replays: int = 0
    guard_failures: int = 0
    eager: int = 0
    reasons: list[str] = field(default_factory=list)
