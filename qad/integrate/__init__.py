"""Differential equations, with gradients through their solutions."""

from qad.elsewhere import names_told as _names_told
from qad.integrate.initial_value import solve_ivp

__all__ = ["solve_ivp"]

_names_told(__name__)
