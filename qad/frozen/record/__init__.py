"""Recording: what a function reads, what it sees meanwhile, and what becomes of every call on an array."""
