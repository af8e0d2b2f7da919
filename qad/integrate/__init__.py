"""Differential equations, with gradients through their solutions."""

from qad.integrate.initial_value import solve_ivp

__all__ = ["solve_ivp"]
