"""Write docs/numpy.md, the table of every NumPy function: ``python docs/numpy_table.py``.

The table is read off the registries of rules; `LEFT` says why some functions never meet a Tensor.
"""

import types
from pathlib import Path

import numpy as np

from qad.core.tape.tensor import FUNCTIONS, UFUNCS, Tensor
from qad.rules.refused import REFUSED

PAGE = Path(__file__).with_name("numpy.md")
MODULES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft, "np.emath": np.emath}

PLAIN = "makes a plain array; a recorded Tensor refuses to become one (`qad.array` and `qad.array_api.asarray` keep it)"
NEW = "makes an array of sizes, not of arrays' values"
FILES = "reads files, text or memory"
TEXT = "makes text of one number or name"
DTYPES = "is about dtypes, or the kind of an object"
DATES = "dates have no derivative"
STATE = "settings of NumPy, or information about it"
LEFT = {
    PLAIN: """array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix bmat require
        from_dlpack""",
    NEW: """arange bartlett blackman broadcast_shapes diag_indices fftfreq rfftfreq full fromfunction fromiter
        frompyfunc hamming hanning indices kaiser mask_indices nested_iters tril_indices triu_indices""",
    FILES: "frombuffer fromfile fromregex fromstring genfromtxt load loadtxt",
    TEXT: "base_repr binary_repr format_float_positional format_float_scientific typename",
    DTYPES: "isdtype isfortran isscalar issubdtype iterable mintypecode promote_types",
    DATES: "busday_count busday_offset datetime_as_string datetime_data is_busday",
    STATE: """get_include get_printoptions getbufsize geterr geterrcall info printoptions set_printoptions setbufsize
        seterr seterrcall show_config show_runtime test""",
}
WHY = {name: why for why, names in LEFT.items() for name in names.split()}
CALLS = {"row_stack": "calls `np.vstack`"}  # functions that NumPy itself writes in others
NOTES = {
    np.pad: "all modes, in the constants and end values, too",
    np.bincount: "in the weights; counts are plain",
    np.histogram: "in the weights; counts and edges are plain",
    np.interp: "in points, grid and values",
    np.unique: "equal values share",
    np.apply_along_axis: "a Python loop; `qad.vmap` has none",
    np.sort: "real numbers; equal ones share",
    np.max: "real numbers; equal ones share",
    np.min: "real numbers; equal ones share",
}
YES, PASSES, NO, NEVER = "differentiable", "passes through", "refused", "no Tensor"

HEAD = """# NumPy's functions

Every function of NumPy {version}, and what it does with a recorded Tensor. This page is made by
`docs/numpy_table.py` from the rules themselves, and a test keeps it so.

* **differentiable**: recorded, with derivatives of every order, forward and backward.
* **passes through**: has no derivative (steps, places, truth values, questions about shapes). It runs on the bare
  values and returns plain arrays.
* **refused**: raises at the call; the message says what to write.
* **no Tensor**: never sees one.

What holds for all: `out=` is refused, since what is written into an array is not an operation on it: write `y =
f(x)`. A ufunc's `where=` gives 0 where the mask is False, entries that NumPy leaves to chance; reductions take
`where=` as NumPy does. `dtype=` works where it is a float or complex one. A `uf.reduce`, `uf.accumulate`,
`uf.reduceat` and `uf.outer` work for every ufunc of two operands that is differentiable or passes through.

SciPy's special functions are in `qad.special`, its matrix functions in `qad.linalg`. A sparse matrix `A` of SciPy
is a constant in `np.matmul(A, x)`, `np.dot(A, x)` and `x @ A`; `A @ x` is SciPy's own code, which cannot record:
write `x @ A.T` for a vector, `(x.T @ A.T).T` for a matrix. `np.vectorize` makes plain arrays of Python numbers:
`qad.vmap` is the way to lift a function of numbers.

A function of SciPy that asks a recorded Tensor for plain numbers raises `RecordedTensorError`, which names it and what
qad has in its place (for `scipy.optimize.brentq`: `qad.optimize.root`). A few of SciPy's raise errors of their own
first: `diags`, `eigsh` and `svds` ("type not understood"), `fixed_point`; `fsolve` and `root` print ours.

`np.lib.stride_tricks.sliding_window_view` is differentiable, and copies. The functions of `np.polynomial` turn
coefficients into plain arrays, which a recorded Tensor refuses: `qad.polynomial` has their counterparts
(`qad.polynomial.chebyshev.chebval`, `legder`, `hermint`, `lagmul`, `polyfit`, `chebvander`, ... of all six families,
for recorded coefficients and points). `np.polynomial.chebyshev.chebval(x, c)` of plain `c` is differentiable in `x` as
it stands; the classes (`np.polynomial.Chebyshev`) refuse both: write the functions.

Other libraries' programs: `x.__array_namespace__()` of a Tensor is `qad.array_api`, the namespace of the
[array-API standard](array_api.md). With `SCIPY_ARRAY_API=1` in the environment many functions of SciPy run on it, and
so are differentiable as they stand: `scipy.stats.zscore`, `scipy.signal.fftconvolve`, `scipy.special.logsumexp`.
SciPy's other special functions find qad's rules there; where SciPy is too old to look they are refused.
"""


def functions(module):
    """Names and functions of a module, without classes, modules and what is private."""
    for name in sorted(vars(module)):
        f = getattr(module, name)
        if callable(f) and not name.startswith("_") and not isinstance(f, (type, types.ModuleType)):
            yield name, f


def fate(name, f):
    """What a function does with a Tensor, and a note."""
    if f in REFUSED:
        return NO, REFUSED[f]
    handler = UFUNCS.get(f) or FUNCTIONS.get(f)
    if handler is not None:
        return (PASSES if getattr(handler, "passes", False) else YES), NOTES.get(f, "")
    if name in CALLS:
        return YES, CALLS[name]
    return (NO if WHY[name] == PLAIN else NEVER), WHY[name]


def methods():
    """What Tensor has of ndarray's methods, and what not."""
    names = [n for n in dir(np.ndarray) if not n.startswith("_")]
    return [n for n in names if hasattr(Tensor, n)], [n for n in names if not hasattr(Tensor, n)]


def page() -> str:
    """The text of the page."""
    lines = [HEAD.format(version=".".join(np.__version__.split(".")[:2]))]
    for title, module in MODULES.items():
        rows = [(name, *fate(name, f)) for name, f in functions(module)]
        counts = ", ".join(f"{sum(kind == k for _, kind, _ in rows)} {k}" for k in (YES, PASSES, NO, NEVER))
        lines += [f"## {title}", "", f"{counts}.", "", "| function | | note |", "|---|---|---|"]
        lines += [f"| `{name}` | {kind} | {note} |" for name, kind, note in rows] + [""]
    have, lack = methods()
    lines += ["## Methods of ndarray", "", "Tensor has " + ", ".join(f"`{n}`" for n in have) + ".", ""]
    lines += ["It lacks " + ", ".join(f"`{n}`" for n in lack) + ": they are about memory; `x.numpy()` has them."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
