"""Cases are drawn, not multiplied: of a large family of cases an ordinary run takes a sample, the nightly run the rest.

A family is a test function with all of its parameters.  A product of several parameters with more than `MOST` cases is
sampled by itself; ``@pytest.mark.sampled(n)`` says so of any family whose cases take long.  The draw is the order of
the hashes of the names of the cases: it is the same on every machine, and stays when cases come or go.
"""

from hashlib import sha256

import pytest

MOST = 12  # cases of a product that an ordinary run takes, or more where its parameters have more values


def left_for_the_night(items):
    """The cases that their families leave out of an ordinary run."""
    families = {}
    for item in items:
        if hasattr(item, "callspec"):
            families.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for family in families.values():
        kept = set(sample(family))
        yield from (item for item in family if item not in kept)


def sample(family):
    """The cases of a family that an ordinary run takes: every value of every parameter, and others up to the number."""
    mark = family[0].get_closest_marker("sampled")
    (most,) = mark.args if mark else (MOST,)
    if len(family) <= most or not (mark or len(family[0].callspec.params) > 1):
        return family
    drawn = sorted(family, key=drawing)
    values = [name for name in family[0].callspec.params if not mark or count(family, name) <= most]
    first = covering(drawn, values)
    rest = [item for item in drawn if item not in first]
    return first + rest[: max(0, most - len(first))]


def covering(drawn, names):
    """Cases with every value of these parameters, few of them: those that bring most new values come first."""
    left, seen, first = {item: {(n, worded(item.callspec.params[n])) for n in names} for item in drawn}, set(), []
    for number in range(len(names), 0, -1):
        for item, words in left.items():
            if len(words - seen) >= number:
                seen |= words
                first.append(item)
    return first


def drawing(item):
    """Where a case stands in the draw."""
    return sha256(item.nodeid.encode()).digest()


def one_in(number, cases):
    """One in `number` of cases that a single test goes through, drawn by their names."""
    return [case for case in cases if sha256(str(case).encode()).digest()[0] % number == 0]


def count(family, name):
    """How many values a parameter has."""
    return len({worded(item.callspec.params[name]) for item in family})


def worded(value):
    """The name that identifies a value of a parameter; without the address of an object."""
    return getattr(value, "__qualname__", None) or repr(value)


def thin(items):
    """Mark what is left out of an ordinary run `slow`."""
    for item in left_for_the_night(items):
        item.add_marker(pytest.mark.slow)
