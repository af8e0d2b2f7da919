"""How threads share the work of kernels: Python's own threads, for kernels release the interpreter's lock."""

from threading import Barrier, BrokenBarrierError, Thread
from typing import TYPE_CHECKING

from qad.core.process.threads import kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["WORTH", "in_rounds", "share", "threads_for"]

WORTH = 1 << 18  # updates of numbers: a quarter of a millisecond; starting a thread takes 0.08


def threads_for(parts: int, work: int) -> int:
    """How many threads share so many parts of some work, counted in updates of numbers."""
    return min(kernels(), parts) if work > WORTH and parts > 1 else 1


def share(parts: int, thread: int, threads: int) -> tuple[int, int]:
    """The first of the parts that a thread is given, and the first of the next."""
    return thread * parts // threads, (thread + 1) * parts // threads


def in_rounds(work: "Callable[[int, int], None]", rounds: "Sequence[int]", threads: int) -> None:
    """Call ``work(r, thread)`` for all rounds in order; a round begins when the one before is over on all threads.

    What is raised on one thread ends the work of all, and is raised here.
    """
    if threads == 1:
        for r in rounds:
            work(r, 0)
        return
    barrier, errors = Barrier(threads), []

    def run(thread):
        try:
            for r in rounds:
                work(r, thread)
                barrier.wait()
        except BrokenBarrierError:  # another thread has given up
            pass
        except BaseException as error:
            errors.append(error)
            barrier.abort()

    others = [Thread(target=run, args=(thread,), daemon=True) for thread in range(1, threads)]
    try:
        for one in others:
            one.start()
    except RuntimeError:  # the system has no more threads
        barrier.abort()
        raise
    run(0)
    for one in others:
        one.join()
    if errors:
        raise errors[0]
