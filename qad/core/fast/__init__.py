"""Everything whose only reason is speed.  Deleting this folder changes no result; `QAD_FAST=0` leaves it out."""

from __future__ import annotations

from os import environ


def install() -> None:
    """Put the quick functions in the places of the plain ones, for whoever asks for them from now on."""
    from qad.core.fast import recorders as quick
    from qad.core.fast.sweep import sweep
    from qad.core.tape import backward, recorders

    backward.sweep = sweep
    for name in ("unary", "unary_with_metadata", "binary", "product"):
        setattr(recorders, name, getattr(quick, name))


if environ.get("QAD_FAST", "1") != "0":
    install()
