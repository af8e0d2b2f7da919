"""The libraries that run beside qad, each driven the way its own guide recommends.

A loss is given once, as `make_loss(xp)`, which builds `loss(variables, constants)` from a library's
namespace; the functions here turn it into a `Contender` and convert the library's gradient to qad's
convention, dL/dx + i dL/dy. Libraries are imported when their contender is set up, never before.
"""

import importlib
import importlib.metadata
import importlib.util
import os
import platform
from functools import partial

import numpy as np

from .case import Contender

PEERS = ("torch", "jax", "autograd", "pennylane", "pennylane_lightning", "qulacs")


def has(package):
    """True where `package` can be imported."""
    return importlib.util.find_spec(package) is not None


def installed():
    """The peers that can run here."""
    return [name for name in PEERS if has(name)]


def missing():
    """The peers that cannot run here."""
    return [name for name in PEERS if not has(name)]


def thread_count():
    """The threads that each library has."""
    return int(os.environ.get("OMP_NUM_THREADS", "1"))


def import_jax():
    """JAX in double precision; on a single processor a call runs in the thread that asks for it.

    To hand it to another thread, as jax does by default, pays where there is a processor for that; where there is none
    it costs a few microseconds, and up to a third of the time of small programs.
    """
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_cpu_enable_async_dispatch", thread_count() > 1)
    return jax


def with_torch(make_loss, variables, constants=(), name="torch", forward=False):
    """PyTorch's eager tape; leaves are made once, and `autograd.grad` accumulates nothing into `.grad`."""

    def prepare(requires_grad):
        import torch

        torch.set_num_threads(thread_count())
        leaves = [torch.tensor(array, requires_grad=requires_grad) for array in variables]
        return torch, make_loss(torch), leaves, [torch.tensor(array) for array in constants]

    def setup():
        torch, loss, leaves, fixed = prepare(requires_grad=True)

        def call():
            value = loss(leaves, fixed)
            return value, torch.autograd.grad(value, leaves)

        return call

    def setup_forward():
        _, loss, leaves, fixed = prepare(requires_grad=False)
        return lambda: loss(leaves, fixed)

    def result(output):
        value, gradients = output
        return value.item(), [gradient.numpy() for gradient in gradients]

    return Contender(name, setup, result, needs="torch", forward=setup_forward if forward else None)


def with_jax(make_loss, variables, constants=(), name="jax, jitted", forward=False, jit=True, given=False):
    """JAX: inputs are on its device beforehand, and results are waited for.

    Constants are part of the jitted program, unless they are `given` at every call as the variables are.
    """

    def prepare(gradient):
        jax = import_jax()
        loss, fixed = make_loss(jax.numpy), [jax.device_put(array) for array in constants]
        inputs = [jax.device_put(array) for array in variables]
        wanted = jax.value_and_grad(loss) if gradient else loss
        function, taken = (wanted, (inputs, fixed)) if given else (lambda arrays: wanted(arrays, fixed), (inputs,))
        function = jax.jit(function) if jit else function
        return lambda: jax.block_until_ready(function(*taken))

    def result(output):
        value, gradients = output
        return value.item(), [np.conj(gradient) for gradient in gradients]

    setup_forward = partial(prepare, gradient=False) if forward else None
    return Contender(name, partial(prepare, gradient=True), result, needs="jax", forward=setup_forward)


def with_autograd(make_loss, variables, constants=(), name="autograd", forward=False):
    """HIPS autograd over its wrapped NumPy."""

    def prepare():
        import autograd

        return autograd, make_loss(importlib.import_module("autograd.numpy"))

    def setup():
        autograd, loss = prepare()
        function = autograd.value_and_grad(lambda arrays: loss(arrays, constants))
        return lambda: function(list(variables))

    def setup_forward():
        _, loss = prepare()
        return lambda: loss(list(variables), constants)

    def result(output):
        value, gradients = output
        return value, [np.conj(gradient) for gradient in gradients]

    return Contender(name, setup, result, needs="autograd", forward=setup_forward if forward else None)


def environment(threads):
    """What a reader needs to know of the run: versions, threads, the kind of machine (but not which)."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    packages = ("numpy", "scipy", *installed())
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "threads": threads,
        "blas": f"{blas['name']} {blas['version']}",
        "versions": {name: importlib.metadata.version(name) for name in packages},
    }
