"""Real forms ``<psi|O|psi>``, whose derivative is taken of one half."""
