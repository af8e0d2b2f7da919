"""Orders of the contractions of densities."""

from qad.peps.infinite.density import fewest


def test_orders_are_those_of_about_this_size():
    """One for all cuts of an environment, whose legs differ a little; short legs count as they are."""
    ring, ends = [["a", "b"], ["b", "c"], ["c", "d"]], ["a", "d"]
    first, second, third = (fewest(ring, ends, {"a": 16, "b": n, "c": 17, "d": 18}) for n in (14, 15, 40))
    assert first is second
    assert third is not first
    left, right = (fewest(ring, ends, {"a": a, "b": 4, "c": 3, "d": d}) for a, d in ((2, 8), (8, 2)))
    assert (sorted(left[0]), sorted(right[0])) == ([0, 1], [1, 2])
