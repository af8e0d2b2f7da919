"""Time evolution of chains, real and imaginary."""
