"""Random networks, and their contraction counted and searched independently of the planner."""

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def random_network(rng, count, extra=3, most=3, closed=False, hyper=False, repeat=False):
    """A connected network: expression and shapes. `hyper` and `repeat` add labels in three operands and diagonals."""
    terms = [[] for _ in range(count)]
    labels = iter(LETTERS)
    for one in range(1, count):
        _join(terms, (int(rng.integers(one)), one), next(labels))
    for _ in range(extra):
        _join(terms, rng.choice(count, 2, replace=False) if count > 1 else (0, 0), next(labels))
    if hyper and count > 2:
        _join(terms, rng.choice(count, 3, replace=False), next(labels))
    if repeat:
        _join(terms, [int(rng.integers(count))] * 2, next(labels))
    used = sorted({label for term in terms for label in term})
    output = [] if closed else list(rng.permutation([label for label in used if rng.random() < 0.3]))
    for term in terms:
        rng.shuffle(term)
    sizes = {label: int(rng.integers(1, most + 1)) for label in used}
    text = ",".join(map("".join, terms)) + "->" + "".join(output)
    return text, [tuple(sizes[label] for label in term) for term in terms]


def _join(terms, members, label):
    for member in members:
        terms[int(member)].append(label)


def operands_for(rng, shapes, kind=complex):
    """Normal random operands; every second one complex for kind "mixed"."""
    found = []
    for number, shape in enumerate(shapes):
        x = rng.standard_normal(shape)
        is_complex = kind is complex or (kind == "mixed" and number % 2)
        found.append(np.asarray(x + 1j * rng.standard_normal(shape) if is_complex else x))
    return found


def joint_cost(terms, output, sizes, variables, pairs):
    """Multiply-adds of value and gradient of one tree, counted by its definition."""
    nodes = [(frozenset(term), number in variables) for number, term in enumerate(terms)]
    alive = set(range(len(nodes)))
    total = 0
    for left, right in pairs:
        alive -= {left, right}
        (one, held_one), (two, held_two) = nodes[left], nodes[right]
        outside = set(output).union(*(nodes[other][0] for other in alive))
        total += int(np.prod([sizes[label] for label in one | two])) * (1 + held_one + held_two)
        alive.add(len(nodes))
        nodes.append((frozenset(one | two) & outside, held_one or held_two))
    return total


def all_trees(count):
    """Every sequence of pairs that contracts `count` operands; many describe the same tree."""

    def grow(alive, fresh):
        if len(alive) == 1:
            yield ()
        for place, left in enumerate(alive):
            for right in alive[place + 1 :]:
                rest = [node for node in alive if node not in (left, right)]
                for pairs in grow([*rest, fresh], fresh + 1):
                    yield ((left, right), *pairs)

    return grow(list(range(count)), count)


def cheapest(terms, output, sizes, variables):
    """The joint cost of the best tree, by recursion over splits of subsets; no formula of the planner is used."""
    count, memory = len(terms), {}

    def legs(part):
        inside = set().union(*(terms[number] for number in part))
        outside = set(output).union(*(terms[number] for number in range(count) if number not in part))
        return inside & outside

    def best(part):
        if len(part) == 1:
            return 0
        if part not in memory:
            members = sorted(part)
            memory[part] = min(
                split_cost(frozenset(chosen), part)
                for code in range(1, 1 << (len(members) - 1))
                for chosen in [[m for place, m in enumerate(members[1:]) if code >> place & 1]]
            )
        return memory[part]

    def split_cost(one, part):
        two = part - one
        pair = int(np.prod([sizes[label] for label in legs(one) | legs(two)]))
        needed = bool(one & set(variables)) + bool(two & set(variables))
        return best(one) + best(two) + pair * (1 + needed)

    return best(frozenset(range(count)))
