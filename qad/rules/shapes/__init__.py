"""Functions that choose entries or give them another place."""
