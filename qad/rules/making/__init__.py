"""Arrays made: from nested lists, on grids, in another dtype or on another device."""
