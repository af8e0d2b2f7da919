"""The table that the compiled loop of a frozen program goes through: one row of integers for each piece of work.

A row says which operation is carried out, on three operands at most, for every element of up to two axes around the
one that the operation itself runs along.
"""

# Columns.  Those of operands are three each, those of sizes four, those of strides nine.
(
    OPERATION,  # one of those below
    FUNCTION,  # the address of an inner loop: of NumPy's, or one of ours that is called likewise
    DATA,  # what that is given besides
    OUTER,  # how often it is done, along an axis
    INNER,  # and along another
    COUNT,  # elements in one go, in each block but the last
    LAST,  # and in the last block
) = range(7)
BASE = 8  # addresses of the operands
GIVEN = 11  # the number of the array, among those given to a run, from whose beginning on BASE counts; -1 for none
ADVANCE = 14  # bytes from one block to the next
OUTER_STEP = 17
INNER_STEP = 20
ARGS = 23  # addresses that an inner loop is given, written by the loop
DIMS = 26  # sizes that it is given; the first is written by the loop
STEPS = 30  # strides that it is given
WIDTH = 39

CALL, SINE, COSINE, PRODUCT, PRODUCT_COMPLEX = range(5)
