"""The tasks of papers: short scripts that print exact numbers beside ours."""

import pytest

from tests.examples.running import EXAMPLES, PAPERS, run

MOST_LINES = 40
APART = {  # how far numbers, in the short form, may be from the exact ones
    "papers/01_j1j2_chain.py": 1e-8,
    "papers/02_hubbard_ladder.py": 1e-6,
    "papers/03_quench_and_echo.py": 1e-6,
    "papers/04_thermal_chain.py": 2e-6,
    "papers/05_infinite_spin_one.py": 1e-4,
    "papers/06_ipeps_without_symmetry.py": 8e-3,  # bond 2
    "papers/07_classical_ising.py": 1e-8,
    "papers/08_variational_and_noise.py": 1e-8,
    "papers/09_tree_of_isometries.py": 1e-3,  # bond 4
    "papers/10_classifier.py": 1e-2,
    "papers/11_sampling.py": 0.1,  # four times the error of a thousand samples
    "papers/12_open_and_disordered.py": 1e-6,
}
QUICK = ("papers/03_quench_and_echo.py", "papers/08_variational_and_noise.py", "papers/11_sampling.py")


def test_all_are_there():
    assert sorted(APART) == PAPERS


@pytest.mark.parametrize("name", PAPERS)
def test_it_is_short(name):
    source = (EXAMPLES / name).read_text("utf-8")
    assert len(source.splitlines()) <= MOST_LINES
    assert source.startswith('"""') and "``--short``" in source
    assert source.count('short = "--short" in sys.argv') == source.count("sys.argv") == 1


@pytest.mark.parametrize("name", [pytest.param(x, marks=[] if x in QUICK else pytest.mark.slow) for x in PAPERS])
def test_its_numbers_are_exact(name):
    compared = run(name).compared
    assert compared
    for number, exact in compared:
        assert abs(number - exact) <= APART[name]
