"""What kernels are given, as types: an array of NumPy or an integer, with what `qad.native` has to know of it.

A number at the end of a name is that of the axes; there is one where none stands.
"""

from typing import Annotated, TypeAlias

import numpy as np

from qad.native import COMPLEX, COMPLEX128, FLOAT, INT, INT32, REAL, Block

Int: TypeAlias = Annotated[int, INT]
Ints: TypeAlias = Annotated[np.ndarray, Block(INT)]
Ints2: TypeAlias = Annotated[np.ndarray, Block(INT, 2)]
ShortInts: TypeAlias = Annotated[np.ndarray, Block(INT32)]

# In double precision.
Floats: TypeAlias = Annotated[np.ndarray, Block(FLOAT)]
Floats2: TypeAlias = Annotated[np.ndarray, Block(FLOAT, 2)]
Floats3: TypeAlias = Annotated[np.ndarray, Block(FLOAT, 3)]
Floats4: TypeAlias = Annotated[np.ndarray, Block(FLOAT, 4)]
Complexes128: TypeAlias = Annotated[np.ndarray, Block(COMPLEX128)]
Complexes128x2: TypeAlias = Annotated[np.ndarray, Block(COMPLEX128, 2)]

# In the precision of the state.
Reals: TypeAlias = Annotated[np.ndarray, Block(REAL)]
Reals2: TypeAlias = Annotated[np.ndarray, Block(REAL, 2)]
Reals3: TypeAlias = Annotated[np.ndarray, Block(REAL, 3)]
Complexes: TypeAlias = Annotated[np.ndarray, Block(COMPLEX)]
Complexes2: TypeAlias = Annotated[np.ndarray, Block(COMPLEX, 2)]
Complexes3: TypeAlias = Annotated[np.ndarray, Block(COMPLEX, 3)]
