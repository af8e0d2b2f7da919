"""Keep freed memory in the process.

A tape allocates and frees arrays of the same sizes over and over.  The GNU C library takes large blocks from the
system and gives them back when they are freed, so that every page of every temporary is faulted in again, which
can cost several times the arithmetic on it.  Its threshold adapts: after one block of just over 32 MB was freed,
blocks up to that size stay in the process (at most 64 MB of them unused).  No page of this block is touched.
Elsewhere the line does nothing.
"""

import numpy as np

np.empty(33_000_000, np.uint8)
