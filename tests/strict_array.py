"""Arrays of another library, as strict as such arrays are where they lie on a device: a stand-in for CuPy's.

A `StrictArray` speaks NumPy's two protocols, and says where it lies.  It is not converted (``np.asarray`` raises), it
does not mix with arrays of the host, and its results without axes are arrays.  What is allowed is what CuPy allows too:
Python's and NumPy's numbers as operands, ``like=``, one entry as a Python number, and arrays of integers of the host
as indices, which say where and not what.

`abroad` makes a pytree, or a function with what it holds and creates, one of `StrictArray`; `home` brings arrays back.
"""

import functools
import types
from contextlib import nullcontext

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

import qad
from qad.core.trees import tree_map

CREATE = frozenset((  # which take an array of the host, and move it
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray,
))  # fmt: skip
BY_PLACE = frozenset((np.take, np.moveaxis, np.transpose, np.roll, np.sum, np.expand_dims))  # and integers
SAFE = frozenset((  # attributes whose meaning is the same on a device
    "ndim", "shape", "size", "dtype", "nbytes", "itemsize", "strides",
))  # fmt: skip
METHODS = frozenset((
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj",
    "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "fill", "flatten", "max", "mean", "min", "nonzero",
    "partition", "prod", "put", "ravel", "repeat", "reshape", "round", "searchsorted", "sort", "squeeze", "std",
    "sum", "swapaxes", "take", "trace", "transpose", "var", "view",
))  # fmt: skip
VIEWS = frozenset(("T", "mT", "real", "imag"))


class HostArrayError(TypeError):
    """An array of the host met one of the device, or one of the device was to be converted."""


class Flags:
    """What CuPy tells of the memory of an array."""

    def __init__(self, flags):
        self.c_contiguous, self.f_contiguous, self.owndata = flags.c_contiguous, flags.f_contiguous, flags.owndata


class StrictArray(NDArrayOperatorsMixin):
    """An array that only NumPy's protocols can use; `held` is the array of the host, which nobody else asks for."""

    __slots__ = ("held",)
    __array_priority__ = 100

    def __init__(self, held):
        self.held = held

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        if not understood((inputs, kwargs, out)):
            return NotImplemented
        if method == "at":
            if type(inputs[0]) is not StrictArray:
                raise HostArrayError("what lies on the device is added into an array of the host")
            return ufunc.at(inputs[0].held, place(inputs[1]), *bare(inputs[2:]))
        if out is not None and not all(type(x) is StrictArray for x in out):
            raise HostArrayError("what lies on the device is written into an array of the host")
        into = {} if out is None else {"out": tuple(x.held for x in out)}
        found = getattr(ufunc, method)(*bare(inputs), **bare(kwargs), **into)
        return out[0] if out is not None and len(out) == 1 else wrapped(found)

    def __array_function__(self, function, kinds, args, kwargs):
        if not all(issubclass(kind, (StrictArray, np.ndarray, np.generic)) for kind in kinds):
            return NotImplemented
        out = kwargs.get("out")
        free = function in CREATE
        found = function(*bare(args, free), **bare(kwargs, free))
        return found if function in DESCRIBING else out if type(out) is StrictArray else wrapped(found)

    def __getattr__(self, name):
        if name in SAFE:
            return getattr(self.held, name)
        if name in VIEWS:
            return StrictArray(getattr(self.held, name))
        if name in METHODS:
            return functools.partial(call, getattr(self.held, name), name)
        raise AttributeError(f"StrictArray has no {name}")

    def __setattr__(self, name, value):
        if name == "held":
            object.__setattr__(self, name, value)
        else:
            setattr(self.held, {"real": "real", "imag": "imag", "shape": "shape"}[name], bare(value))

    @property
    def flags(self):
        return Flags(self.held.flags)

    def __getitem__(self, index):
        return wrapped(self.held[place(index)])

    def __setitem__(self, index, value):
        self.held[place(index)] = bare(value)

    def __array__(self, dtype=None, copy=None):
        raise HostArrayError("implicit conversion to an array of the host")

    def __len__(self):
        return len(self.held)

    def __iter__(self):
        return (wrapped(x) for x in self.held)

    def __bool__(self):
        return bool(self.held)

    def __float__(self):
        return float(self.held)

    def __int__(self):
        return int(self.held)

    def __index__(self):
        return self.held.__index__()

    def __complex__(self):
        return complex(self.held)

    def __copy__(self):
        return StrictArray(self.held.copy())

    def __deepcopy__(self, memo):
        return StrictArray(self.held.copy())

    def __repr__(self):
        return f"StrictArray({self.held!r})"

    @property
    def device(self):
        return types.SimpleNamespace(id=0)

    def get(self):
        return self.held.copy()

    def item(self, *index):
        return self.held.item(*index)

    def tolist(self):
        return self.held.tolist()


DESCRIBING = frozenset((np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.min_scalar_type, np.iscomplexobj,
                        np.isrealobj, np.common_type, np.may_share_memory, np.shares_memory, np.array_equal,
                        np.allclose, np.einsum_path, np.array2string, np.array_repr, np.array_str))  # fmt: skip


def understood(tree):
    """Whether no operand of a ufunc is of a third kind, which answers then."""
    if isinstance(tree, (tuple, list)):
        return all(map(understood, tree))
    if isinstance(tree, dict):
        return all(map(understood, tree.values()))
    return isinstance(tree, (StrictArray, np.ndarray)) or getattr(type(tree), "__array_ufunc__", None) in KNOWN


KNOWN = (
    None,
    np.ndarray.__array_ufunc__,
    np.generic.__array_ufunc__ if hasattr(np.generic, "__array_ufunc__") else None,
)


def bare(tree, free=False):
    """The arrays of the host behind those of a call; those of the caller's own are refused, unless it moves them."""
    if type(tree) is StrictArray:
        return tree.held
    if isinstance(tree, np.ndarray) and tree.ndim and not free:
        raise HostArrayError("an array of the host among those of the device")
    if isinstance(tree, dict):
        return {key: bare(x, free) for key, x in tree.items()}
    if isinstance(tree, (tuple, list)):
        items = [bare(x, free) for x in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    return tree


def place(index):
    """An index: arrays of integers and of bools of the host are moved."""
    if isinstance(index, tuple):
        return tuple(map(place, index))
    return index.held if type(index) is StrictArray else index


def call(method, name, *args, **kwargs):
    if name == "take":
        return wrapped(method(place(args[0]), *args[1:], **kwargs))
    return wrapped(method(*bare(args), **bare(kwargs)))


def wrapped(found):
    """What a call gave, its arrays and NumPy's numbers as arrays of the device."""
    if isinstance(found, (np.ndarray, np.generic)):
        return StrictArray(np.asarray(found))
    if isinstance(found, (tuple, list)):
        items = list(map(wrapped, found))
        return type(found)(*items) if hasattr(found, "_fields") else type(found)(items)
    return found


def fake_cupy():
    """What qad asks of the module cupy."""
    cuda = types.SimpleNamespace(Device=lambda number: nullcontext())
    return types.SimpleNamespace(asarray=lambda x: StrictArray(np.array(home(x))), cuda=cuda)


# -- whole programs ----------------------------------------------------------------------------------------------------


def home(tree):
    """A pytree with arrays of the host in the place of those of the device."""
    return tree_map(lambda x: x.held if type(x) is StrictArray else x, tree)


def moved(x):
    return StrictArray(x.copy()) if isinstance(x, np.ndarray) and x.dtype.kind in "biufc" else x


class NumpyAbroad:
    """NumPy as a program on the device calls it: what creates arrays creates them there."""

    CREATING = frozenset(
        [
            "array",
            "asarray",
            "zeros",
            "ones",
            "eye",
            "empty",
            "full",
            "arange",
            "linspace",
            "identity",
            "diag",
            "tri",
            "logspace",
            "meshgrid",
        ]
    )

    def __getattr__(self, name):
        found = getattr(np, name)
        if name == "random":
            return RandomAbroad()
        return functools.partial(created, found) if name in self.CREATING else found


class RandomAbroad:
    """What a program calls as `np.random`."""

    def default_rng(self, *seed):
        return DrawingAbroad(np.random.default_rng(*seed))


class DrawingAbroad:
    """A generator of random numbers whose arrays lie on the device."""

    def __init__(self, rng):
        self.rng = rng

    def __getattr__(self, name):
        return functools.partial(created, getattr(self.rng, name))


def created(fn, *args, **kwargs):
    out = fn(*args, **kwargs)
    return wrapped(out)


NP = NumpyAbroad()


def abroad(x, known=None):
    """`x` on the device: a pytree of arrays, or a function with its constants, its `np` and its helpers."""
    known = {} if known is None else known
    if id(x) in known:
        return known[id(x)][0]
    if isinstance(x, np.ndarray):
        return moved(x)
    if isinstance(x, (qad.mps.MPS, qad.mps.MPO, qad.symmetric.SymTensor)):
        return tree_map(moved, x)
    if x is np:
        return NP
    if isinstance(x, functools.partial):
        return functools.partial(abroad(x.func, known), *abroad(x.args, known), **abroad(x.keywords, known))
    if type(x) in (tuple, list):
        return type(x)(abroad(y, known) for y in x)
    if type(x) is dict:
        return {key: abroad(y, known) for key, y in x.items()}
    if isinstance(x, types.FunctionType) and x.__module__.startswith("tests.") and not hasattr(x, "__wrapped__"):
        return function_abroad(x, known)
    return x


def names_in(code):
    """The names that code, and the code in it, may read as globals."""
    found = set(code.co_names)
    for inner in code.co_consts:
        found |= names_in(inner) if isinstance(inner, types.CodeType) else set()
    return found


def function_abroad(f, known):
    there = dict(f.__globals__)
    cells = tuple(types.CellType() for _ in f.__closure__ or ())
    new = types.FunctionType(f.__code__, there, f.__name__, None, cells)
    known[id(f)] = new, f
    new.__defaults__ = abroad(f.__defaults__, known)
    new.__kwdefaults__ = abroad(f.__kwdefaults__, known)
    for name in names_in(f.__code__) & there.keys():
        there[name] = abroad(there[name], known)
    for cell, given in zip(cells, f.__closure__ or (), strict=True):
        cell.cell_contents = abroad(given.cell_contents, known)
    return new
