"""Batching: rules of `qad.vmap` for families of functions, and what a rule may ask about a batch.

`qad.extend.defbatch` says what a batching rule is.
"""

from qad.core.registry.families import aligned, of_outlines
from qad.core.vmap.batched import enclosed, examples, is_batched, outline
from qad.core.vmap.rules import under_vmap

__all__ = ["aligned", "enclosed", "examples", "is_batched", "of_outlines", "outline", "under_vmap"]
