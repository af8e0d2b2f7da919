"""Blocks in a flat array: where they lie, how they are moved, and products of them."""
