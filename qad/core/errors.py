"""Every exception that qad raises, each also a builtin kind."""


class QadError(Exception):
    """Base of all of qad's exceptions; each is also of the builtin kind that fits, TypeError, ValueError and so on."""


class GradientTypeError(QadError, TypeError):
    """Something of this dtype or kind has no gradient."""


class ShapeError(QadError, ValueError):
    """Shapes, bonds or sizes of labels that do not fit together."""


class ArgumentError(QadError, ValueError):
    """An argument whose value makes no sense."""


class MissingRuleError(QadError, TypeError):
    """A function that has no derivative rule was called on a Tensor."""


class RecordedTensorError(QadError, TypeError):
    """A recorded Tensor was forced into a plain array or number."""


class BatchError(QadError, TypeError):
    """One answer was asked of a batch of examples (`qad.vmap`), each of which has its own."""


class FreedGraphError(QadError, RuntimeError):
    """A second backward pass through a graph that the first one freed."""


class LeakedTensorError(QadError, RuntimeError):
    """A Tensor was used outside of the transform that it belongs to."""


class ConvergenceError(QadError, RuntimeError):
    """An iteration did not reach its tolerance."""


class RejectedPoint(QadError, ArithmeticError):
    """For the loss of a minimisation to raise where it has no value: the search turns back to a smaller step."""


class NotFiniteError(QadError, FloatingPointError):
    """Under `qad.debug`, an operation gave NaN or infinity."""


class CheckError(QadError, AssertionError):
    """A derivative check failed."""


class QasmError(QadError, ValueError):
    """A program in OpenQASM that is malformed, or asks for what circuits cannot do; with `line` and `column` from 1."""

    def __init__(self, message: str, line: int, column: int):
        super().__init__(f"line {line}, column {column}: {message}")
        self.line: int = line
        self.column: int = column
