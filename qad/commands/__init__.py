"""The command line: ``python -m qad``, or ``qad``; what it computes is the library's."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from importlib import import_module
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError, GradientTypeError, QadError, QasmError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

__all__ = ["main"]

COMMANDS = {
    "info": "versions, BLAS, threads, extras and the cache of kernels",
    "ground-state": "the ground state of a model on a chain, a ladder or a cylinder",
    "circuit": "expectation values and samples of a program in OpenQASM",
    "bench": "times of a few gradients on this machine",
}


class OneLineParser(ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : list of str, optional
        By default the words of the command line.

    Returns
    -------
    int
        0; 1 where the command failed or a search did not converge; 2 where the input was wrong.

    Raises
    ------
    SystemExit
        Of the same codes, for ``--help`` and for words that make no command.

    Examples
    --------
    >>> from qad.commands import main
    >>> main(["ground-state", "--model", "aklt", "--n", "6", "--bond", "8", "--quiet"])
    energy -3.333333333333
    0
    """
    args = parser().parse_args(argv)
    try:
        return args.run(args)
    except (ArgumentError, GradientTypeError, QasmError, ShapeError, UnicodeDecodeError) as error:  # bad input
        return refused(args, error, 2)
    except (QadError, ImportError, OSError) as error:
        return refused(args, error, 1)
    except KeyboardInterrupt:
        return refused(args, "stopped by the user (Ctrl-C)", 1)


def parser() -> OneLineParser:
    """The parser of all commands."""
    import qad

    top = OneLineParser(
        prog="qad", description="Gradients over complex numbers and tensor networks: the command line of qad."
    )
    top.add_argument("--version", action="version", version=f"qad {qad.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, what in COMMANDS.items():
        module = import_module(f"qad.commands.{name.replace('-', '_')}")
        command = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
        module.arguments(command)
        command.set_defaults(run=module.run)
    return top


def seed(words: str) -> int:
    """A whole number that is not negative, as the command line takes it."""
    number = int(words)
    if number < 0:
        raise ValueError
    return number


def refused(args: object, error: object, code: int) -> int:
    """Say in one line what was wrong; the exit code."""
    message = " ".join(str(error).split())
    print(f"qad {args.command}: {message}", file=sys.stderr)
    return code
