"""Structure: Tensors that know how they were made, such as the factors of a decomposition, until it does not matter.

`qad.core.structured` explains them.  A function whose result is a contraction says in `CONTRACTIONS` of which labels.
"""

from qad.core.structured import CONTRACTIONS, Structured, form_of, held, is_differentiated, new_family, settled

__all__ = ["CONTRACTIONS", "Structured", "form_of", "held", "is_differentiated", "new_family", "settled"]
