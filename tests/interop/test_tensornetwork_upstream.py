"""tensornetwork's own tests, run against qad's backend: with plain arrays, and with every array recorded."""

from importlib.util import find_spec

import pytest

pytest.importorskip("tensornetwork", reason="the optional package tensornetwork is not installed")

from tests.interop.upstream.run import FILES, outcomes

FEW = (
    "backends/numpy/decompositions_test.py",
    "matrixproductstates/finite_mps_test.py",
    "tests/ncon_interface_test.py",
    "tests/split_node_test.py",
)
# Tests that recorded Tensors fail, and should.
NOT_FOR_TENSORS = {
    "test_convert_to_tensor": "asks for an ndarray",
    "test_gmres_on_larger_random_problem[float16]": "half precision, which LAPACK has not",
    "test_gmres_not_matrix[float16]": "half precision, which LAPACK has not",
    "test_index_update": "writes into its tensor",
    "test_position_no_shift": "divides its recorded inputs in place",
    "test_split_node": "wants exact zeros of a zero matrix, whose singular values are marked when recorded: 1e-154",
    "test_split_node_mixed_order": "wants exact zeros of a zero matrix",
    "test_node_load": "saves to a file, by way of an ndarray",
    "test_node_save": "saves to a file, by way of an ndarray",
    "test_save_load_nodes": "saves to a file, by way of an ndarray",
}


def failures(found, passed_before, excused=()):
    """Tests that passed before and now fail, with their messages."""
    return {
        name: message
        for name, (outcome, message) in found.items()
        if outcome == "failed" and name in passed_before and not is_excused(name.partition("::")[2], excused)
    }


def is_excused(test, excused):
    """Whether a test stands in the list, by its name with or without parameters."""
    return any(test == name or test.startswith(name if "[" in name else name + "[") for name in excused)


def passed(found):
    return {name for name, (outcome, _) in found.items() if outcome == "passed"}


@pytest.fixture(scope="module", params=["few", pytest.param("all", marks=pytest.mark.slow)])
def files(request):
    return FEW if request.param == "few" else FILES


@pytest.fixture(scope="module")
def baseline(files, tmp_path_factory):
    if find_spec("tensornetwork.tests") is None:
        pytest.skip("this distribution, tensornetwork-ng, comes without tests")
    return passed(outcomes("numpy", tmp_path_factory.mktemp("numpy"), files))


@pytest.mark.slow
def test_passes_wherever_numpy_passes(baseline, files, tmp_path):
    assert len(baseline) > 150
    assert not failures(outcomes("qad", tmp_path, files), baseline)


@pytest.mark.slow
def test_recorded_tensors_pass_too(baseline, files, tmp_path):
    assert not failures(outcomes("recorded", tmp_path, files), baseline, NOT_FOR_TENSORS)


@pytest.mark.slow
def test_a_delegating_backend_is_caught(baseline, files, tmp_path):
    """The run with recorded Tensors sees what plain arrays do not show."""
    assert len(failures(outcomes("delegating", tmp_path, files), baseline, NOT_FOR_TENSORS)) > 10
