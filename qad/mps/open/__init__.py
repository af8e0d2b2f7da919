"""Open quantum systems: density matrices as chains, and the Lindblad equations by which they evolve."""
