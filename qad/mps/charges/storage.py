"""States of definite charge as plain arrays, in files of their own and in checkpoints of searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.archive import read_format, understood, write_arrays
from qad.mps.charges.quantities import Quantities
from qad.symmetric.storage import arrays_of as arrays_of_tensor
from qad.symmetric.storage import tensor_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qad.symmetric.tensor import SymTensor
    from qad.typing import FilePath

FORMAT = "qad chain of definite charge 1"


def arrays_of(tensors: Sequence[SymTensor], conserved: Quantities) -> dict[str, np.ndarray]:
    """The site tensors, the names of what is conserved, and the charges of the sites' basis states."""
    found = {"names": np.array(conserved.names)}
    for site, (tensor, charges) in enumerate(zip(tensors, conserved.charges, strict=True)):
        found |= arrays_of_tensor(tensor, f"site_{site}_") | {f"charges_{site}": np.array(charges, np.int64)}
    return found


def parts_of(arrays: Mapping[str, Any], path: FilePath) -> tuple[list[SymTensor], Quantities]:
    """What `arrays_of` wrote; raises where something is amiss."""
    with understood(path):
        n = sum(name.startswith("charges_") for name in arrays)
        charges = [tuple(map(tuple, arrays[f"charges_{site}"].tolist())) for site in range(n)]
        conserved = Quantities(tuple(map(str, arrays["names"])), tuple(charges))
        return [tensor_of(arrays, f"site_{site}_") for site in range(n)], conserved


def save(path: FilePath, tensors: Sequence[SymTensor], conserved: Quantities) -> None:
    """Write a state; a file that is already there is replaced only by a complete one."""
    write_arrays(path, format=np.array(FORMAT), **arrays_of(tensors, conserved))


def load(path: FilePath) -> tuple[list[SymTensor], Quantities]:
    """Tensors and quantities of the state in a file."""
    return parts_of(read_format(path, "SymmetricMPS", FORMAT), path)
