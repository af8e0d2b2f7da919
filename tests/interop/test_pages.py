"""docs/interop.md says what is true, section by section, and the scripts of examples/interop print what they expect."""

import re
import runpy
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "interop.md").read_text("utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}
CODE = {name: re.findall(r"^```python\n(.*?)^```", part, re.MULTILINE | re.DOTALL) for name, part in SECTIONS.items()}
SCRIPTS = sorted((ROOT / "examples" / "interop").glob("*.py"))
PACKAGES = "cotengra", "distributed", "h5py", "jax", "pennylane", "qiskit", "quimb", "tenpy", "tensornetwork", "torch"
APART = {
    "quimb_ring": 1e-3,
    "torch_optimizer": 1e-6,
    "tenpy_chain": 1e-7,
    "qiskit_angles": 1e-7,
    "tensornetwork_chain": 1e-7,
}
SLOW = {"dask_slices", "quimb_ring"}  # scripts of several seconds, run at night
pytestmark = [
    pytest.mark.filterwarnings("ignore:Couldn't import `kahypar`"),
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unit_cell_width is a new argument"),  # of TeNPy 1.1, which 1.0 does not have
]


def skip_without_packages(source):
    for name in re.findall(
        r"^(?:import|from) (\w+)", source.replace("from qad.interop.itensor", "from h5py"), re.MULTILINE
    ):
        if name in PACKAGES and find_spec(name) is None:
            pytest.skip(f"the optional package {name} is not installed")


@pytest.mark.parametrize("name", [name for name, blocks in CODE.items() if blocks])
def test_sections_run(name):
    source = "\n".join(CODE[name])
    skip_without_packages(source)
    exec(compile(source, f"docs/interop.md, {name}", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize(
    "script",
    [pytest.param(path, marks=[pytest.mark.slow] if path.stem in SLOW else []) for path in SCRIPTS],
    ids=lambda path: path.stem,
)
def test_scripts_print_what_they_expect(script, capsys):
    skip_without_packages(script.read_text("utf-8"))
    restore = jax_precision() if "jax_enable_x64" in script.read_text("utf-8") else lambda: None
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        restore()
    pairs = re.findall(r"(-?[\d.]+(?:e-?\d+)?)   exact (-?[\d.]+(?:e-?\d+)?)", capsys.readouterr().out)
    assert pairs
    for number, exact in pairs:
        assert abs(float(number) - float(exact)) <= APART.get(script.stem, 1e-9)


def jax_precision():
    """What sets JAX's precision back to what it is."""
    import jax

    before = jax.config.jax_enable_x64
    return lambda: jax.config.update("jax_enable_x64", before)
