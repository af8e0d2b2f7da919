"""How threads share work."""

from threading import active_count

import pytest

import qad
from qad.native.sharing import WORTH, in_rounds, share, threads_for


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("parts", [0, 1, 5, 8, 100])
def test_shares_are_all_parts_in_order(parts, threads):
    bounds = [share(parts, thread, threads) for thread in range(threads)]
    assert [i for first, end in bounds for i in range(first, end)] == list(range(parts))


def test_threads_for_large_work_alone():
    try:
        qad.config(threads=3)
        assert threads_for(10, WORTH + 1) == 3
        assert threads_for(2, WORTH + 1) == 2
        assert threads_for(1, WORTH + 1) == threads_for(10, WORTH) == 1
    finally:
        qad.config(threads="auto")


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_round_begins_when_the_one_before_is_over(threads):
    done = []
    in_rounds(lambda r, thread: done.append((r, thread)), range(20), threads)
    assert [r for r, _ in done] == [r for r in range(20) for _ in range(threads)]
    assert len(set(done)) == 20 * threads


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("where", [0, 2])
def test_an_error_on_one_thread_ends_the_work_of_all(where, threads):
    done = []

    def work(r, thread):
        if (r, thread) == (1, min(where, threads - 1)):
            raise KeyboardInterrupt
        done.append(r)

    before = active_count()
    with pytest.raises(KeyboardInterrupt):
        in_rounds(work, range(3), threads)
    assert set(done) <= {0, 1}
    assert active_count() == before
