"""With ``SCIPY_ARRAY_API=1`` SciPy's special functions are right on Tensors, or refused with what to write."""

import os
import subprocess
import sys
from pathlib import Path

CODE = """
import numpy as np, qad
from scipy import special

x = np.array([0.3, 1.2])
for name in ("erf", "gammaln", "expit", "logit", "i0", "ndtr", "j1", "beta", "gamma", "logsumexp"):
    arguments = (x / 2, x / 3) if name == "beta" else (x / 2,)
    ours, theirs = getattr(qad.special, name), getattr(special, name)
    np.testing.assert_allclose(ours(*arguments), theirs(*arguments), rtol=1e-14)
    qad.check_grads(ours, arguments)
    wanted = qad.jacobian(ours)(*arguments)
    try:
        np.testing.assert_allclose(qad.jacobian(theirs)(*arguments), wanted, rtol=1e-13)
    except qad.errors.RecordedTensorError as error:
        assert "qad.special" in str(error), error
mixed = qad.special.xlogy(x, qad.tensor(x, requires_grad=True))
assert mixed.requires_grad
"""


def test_special_functions_are_right_or_refused():
    env = os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=env)
    assert run.returncode == 0, run.stderr
