"""Rounds of kernels on threads of Python's; the kernels release its lock."""

from threading import Barrier, Thread

from qad.circuit.compiled.jit import numba

WORTH = 1 << 18  # updates of amplitudes, a quarter of a millisecond: what a thread costs is a third of that


def threads_for(parts, work):
    """How many threads to share so many parts of some work among, `work` being counted in updates of amplitudes."""
    return min(numba.config.NUMBA_NUM_THREADS, parts) if work > WORTH and parts > 1 else 1


def share(parts, thread, threads):
    """The first of the parts that a thread is given, and the first of the next."""
    return thread * parts // threads, (thread + 1) * parts // threads


def in_rounds(work, rounds, threads):
    """Call ``work(r, thread)`` for all rounds in order; a round begins when the one before is over on all threads."""
    if threads == 1:
        for r in rounds:
            work(r, 0)
        return
    barrier = Barrier(threads)

    def run(thread):
        for r in rounds:
            work(r, thread)
            barrier.wait()

    others = [Thread(target=run, args=(thread,), daemon=True) for thread in range(1, threads)]
    for one in others:
        one.start()
    try:
        run(0)
    except BaseException:  # an interrupt: the others shall not wait for this thread
        barrier.abort()
        raise
    finally:
        for one in others:
            one.join()
