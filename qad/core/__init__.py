"""The tape: nodes, recording, the backward sweep, pytrees and transforms.  It knows no derivative."""

from qad.core import fast as _fast  # first, so that all else finds the quick functions
from qad.core.buffers import primitive as _primitive  # what remembers writes
from qad.core.transforms import torch_style as _torch_style  # whose methods Tensors have
