"""qad: derivatives of programs over complex numbers and tensor networks."""

from qad import extend as extend
from qad import linalg as linalg
from qad import mps as mps
from qad import optimize as optimize
from qad import rules as _rules
from qad import tensor as _floor
from qad.core import *  # after the floor `qad.tensor`, whose name the function takes
from qad.core import errors as errors
from qad.core.errors import QadError as QadError
from qad.linalg.fixed_point import fixed_point
from qad.rules.names import *
from qad.tensor import *
from qad.testing import check_grads as check_grads
