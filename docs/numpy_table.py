"""Write docs/numpy.md, the table of every NumPy function: ``python docs/numpy_table.py``.

The table is read off the registries of rules; `LEFT` says why some functions never meet a Tensor.
"""

import types
from pathlib import Path

import numpy as np

from qad.core.tape.tensor import FUNCTIONS, UFUNCS, Tensor
from qad.rules.protocol.refused import REFUSED

PAGE = Path(__file__).with_name("numpy.md")
MODULES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft, "np.emath": np.emath}

PLAIN = "makes a plain array, which would lose the gradient (write `qad.array` or `qad.array_api.asarray`)"
NEW = "makes an array from sizes, not from the values of arrays"
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

Which functions of NumPy can be differentiated? This table has every function of NumPy {version};
`docs/numpy_table.py` makes it from qad's rules, and a test keeps it up to date.

* **differentiable**: recorded, with derivatives of every order, forward and backward.
* **passes through**: has no derivative (steps, indices, truth values, shapes). It computes with the values and returns
  plain arrays.
* **refused**: raises an error that says what to write.
* **no Tensor**: takes no arrays that could be recorded.

For all functions: `out=` raises an error, since it cannot be recorded; write `y = f(x)`. The `where=` of a ufunc
gives 0 where the mask is False (in NumPy these entries are undefined); reductions take `where=` as in NumPy. `dtype=`
may be a float or complex one. `uf.reduce`, `uf.accumulate`, `uf.reduceat` and `uf.outer` work for every ufunc of two
operands that is differentiable or passes through.

SciPy's special functions are in `qad.special`, its matrix functions in `qad.linalg`. A sparse matrix `A` of SciPy
is a constant in `np.matmul(A, x)`, `np.dot(A, x)` and `x @ A`; `A @ x` is SciPy's code and cannot be
recorded: write `x @ A.T` for a vector, `(x.T @ A.T).T` for a matrix. `np.vectorize` makes plain arrays of Python
numbers: use `qad.vmap` to apply a function to every entry.

A function of SciPy that converts a recorded Tensor to plain numbers raises `RecordedTensorError`, which names it and
qad's replacement (for `scipy.optimize.brentq`: `qad.optimize.root`). A few raise errors of their own instead: `diags`,
`eigsh` and `svds` ("type not understood"), `fixed_point`; `fsolve` and `root` print qad's error.

`np.lib.stride_tricks.sliding_window_view` is differentiable; it copies. The functions of `np.polynomial` turn
coefficients into plain arrays, so for recorded coefficients they raise an error: `qad.polynomial` has their
counterparts (`qad.polynomial.chebyshev.chebval`, `legder`, `hermint`, `lagmul`, `polyfit`, `chebvander`, ... of all
six families, for recorded coefficients and points). With plain `c`, `np.polynomial.chebyshev.chebval(x, c)` is
differentiable in `x` as it is; the classes (`np.polynomial.Chebyshev`) are not: use the functions.

Programs for any array library: `x.__array_namespace__()` of a Tensor is `qad.array_api`, the namespace of the
[array-API standard](array_api.md). With `SCIPY_ARRAY_API=1` in the environment many functions of SciPy use it, and
are differentiable as they are: `scipy.stats.zscore`, `scipy.signal.fftconvolve`, `scipy.special.logsumexp`. SciPy's
other special functions find qad's rules there; with an older SciPy that does not look for them they raise an error.
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
