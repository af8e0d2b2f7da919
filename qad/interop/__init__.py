"""Bridges to other packages; each module needs its package and is imported only by name."""
