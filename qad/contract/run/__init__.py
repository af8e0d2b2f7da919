"""Plans carried out: pair by pair, or slice by slice on an executor."""
