"""A Born machine: a matrix product state whose |psi(s)|^2 is trained to be the distribution of bars and stripes.

The images whose rows are uniform, or whose columns are, shall all be equally likely.  Training lowers the mean of
-log |psi(s)|^2 / <psi|psi> over them; it cannot fall below the entropy of the data, the logarithm of their number, and
reaches it where the state has learned them all.  ``--short``: 3 x 3 pixels and bond 8 instead of 4 x 4 and 20.
"""

import sys
from itertools import product

import numpy as np

import qad

short = "--short" in sys.argv
side, bond, steps = (3, 8, 150) if short else (4, 20, 500)

stripes = [np.repeat(bits, side) for bits in product((0, 1), repeat=side)]
bars = [np.tile(bits, side) for bits in product((0, 1), repeat=side)]
images = np.unique([*stripes, *bars], axis=0)  # one row of pixels each; all black and all white are bars and stripes


def loss(psi):
    """Negative log-likelihood of the images, in nats an image."""
    return qad.mps.log_norm2(psi) - 2 * psi.log_amplitudes(images).real.mean()


start = qad.mps.MPS.random(side**2, bond, dtype=float, seed=0)
found = qad.optimize.minimize(loss, start, maxiter=steps)
entropy = np.log(len(images))
print(f"loss {found.fun:.9f}   exact {entropy:.9f} (entropy of {len(images)} images)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.semilogy(found.history - entropy)
left.set(xlabel="iteration", ylabel="loss above the entropy of the data (nats)")
samples = found.params.normalized().sample(36, seed=0).reshape(6, 6, side, side)
framed = np.pad(samples, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=2)
right.imshow(framed.transpose(0, 2, 1, 3).reshape(6 * (side + 1), -1), cmap="gray")
right.set(title="samples of the state", xticks=[], yticks=[])
figure.savefig(__file__.replace(".py", ".png"))
