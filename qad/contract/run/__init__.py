"""Plans carried out: pair by pair, as one compiled loop, or slice by slice on an executor."""
