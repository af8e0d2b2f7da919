"""What Python calls of the compiled code, and how it is kept on disk.

Numba finds machine code on disk by the file of the function, by its bytecode, and by the values that it closes over.
The machine code contains all that the function calls, from whatever file; so these functions close over the version
of all those files.
"""

from pathlib import Path

from qad.contract import interpreter
from qad.contract.compiled import kernel
from qad.contract.compiled.jit import keeping, numba
from qad.contract.kernel_version import version_of

__all__ = ["loop", "stack_product"]

HERE = Path(__file__).parent
FILES = [*sorted(HERE.glob("*.py")), *(HERE.parent / name for name in ("costs.py", "interpreter.py"))]
VERSION = version_of(FILES)

for part in interpreter.PARTS:
    kernel.usable(part)
replay, multiply_stacks = kernel.usable(interpreter.replay), kernel.usable(kernel.multiply_stacks)


def loop(dtype):
    """`replay` for blocks of a dtype."""
    version = VERSION

    def carry_out(code, kept, work):
        if version:
            replay(code, kept, work)

    block = numba.types.Array(numba.from_dtype(dtype), 1, "C")
    return _compiled(carry_out, numba.types.Array(numba.int64, 1, "C"), block, block)


def stack_product(dtype):
    """`multiply_stacks` for a dtype."""
    version = VERSION

    def product(a, b):
        return multiply_stacks(a, b) if version else None

    stack = numba.types.Array(numba.from_dtype(dtype), 3, "A")
    return _compiled(product, stack, stack)


def _compiled(function, *kinds):
    compiled = keeping(function, nogil=True)
    compiled.compile(kinds)
    compiled.disable_compile()  # so that arguments are made these types
    return compiled
