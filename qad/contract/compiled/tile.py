"""A tile of a product of matrices, written in LLVM's language so that it keeps to registers.

For each term of the sum a piece of a row of the second matrix is loaded once, and multiplied by one number of every row
of the first.  With complex numbers a tile is two real ones: the rows b of the second matrix are real and imaginary
parts in turn, and for numbers x + iy of the first the real sums ``P = sum x b`` and ``Q = sum y b`` make ``P + iQ``,
once at the end.
"""

from llvmlite import ir

from qad.contract.compiled.jit import numba

__all__ = ["packed", "pointer", "tile"]

INT = ir.IntType(32)
cgutils, types = numba.core.cgutils, numba.core.types


@numba.extending.intrinsic
def pointer(context, block):
    """Where an array begins in memory: a strip of tiles handles this, for arrays would be counted anew by each."""

    def code(context, builder, signature, arguments):
        return context.make_array(block)(context, builder, *arguments).data

    return types.CPointer(block.dtype)(block), code


@numba.extending.intrinsic(prefer_literal=True)
def tile(context, rows, columns, first, a, second, b, work, c, k):
    """``C = A B`` for `rows` rows of A, and `columns` columns of B that lie side by side.

    Parameters
    ----------
    rows, columns : literal int
    first, second, work : pointers
        To the beginnings of blocks of one dtype.
    a, b, c : Place
        Where the matrices begin in them, and the steps along rows and columns; see `qad.contract.compiled.kernel`.
    k : int
        Terms of the sums.
    """

    def code(context, builder, signature, arguments):
        written = _Tile(builder, work.dtype, rows.literal_value, columns.literal_value)
        written.write(arguments[2:8:2], arguments[3:8:2], arguments[8])
        return context.get_dummy_value()

    return types.void(rows, columns, first, a, second, b, work, c, types.intp), code


@numba.extending.intrinsic(prefer_literal=True)
def packed(context, columns, second, b, room, k):
    """Copy `columns` columns of B side by side to the beginning of `room`, a row at a time.

    The rows are stored whole: what `tile` loads at once must not come from several stores that are still under way.

    Parameters
    ----------
    columns : literal int
    second, room : pointers
    b : Place
    k : int
        Rows.
    """

    def code(context, builder, signature, arguments):
        _Tile(builder, room.dtype, 1, columns.literal_value).copy(*arguments[1:])
        return context.get_dummy_value()

    return types.void(columns, second, b, room, types.intp), code


class _Tile:
    """Writes the instructions of one tile."""

    def __init__(self, builder, kind, rows, columns):
        real = getattr(kind, "underlying_float", kind)
        self.builder, self.rows, self.columns = builder, rows, columns
        self.parts = 1 if real is kind else 2
        self.size, self.lanes = real.bitwidth // 8, self.parts * columns
        self.real = ir.DoubleType() if real.bitwidth == 64 else ir.FloatType()
        self.vector = ir.VectorType(self.real, self.lanes)
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        name = f"llvm.fmuladd.v{self.lanes}f{real.bitwidth}"
        self.multiply_add = cgutils.get_or_insert_function(builder.module, kind, name)

    def write(self, blocks, places, k):
        """The whole tile."""
        builder = self.builder
        (a, b, c), (a_row, b_row, c_row), (a_column, _, c_column) = zip(*map(self.matrix, blocks, places), strict=True)
        zero = ir.Constant(self.vector, None)
        sums = [[cgutils.alloca_once_value(builder, zero) for _ in range(self.parts)] for _ in range(self.rows)]
        with cgutils.for_range(builder, k) as loop:
            x = self.load(builder.gep(b, [builder.mul(loop.index, b_row)]))
            term = builder.gep(a, [builder.mul(loop.index, a_column)])
            for row, own in zip(self.down(term, a_row), sums, strict=True):
                for part, total in enumerate(own):
                    y = self.spread(builder.load(builder.gep(row, [INT(part)])))
                    builder.store(builder.call(self.multiply_add, [y, x, builder.load(total)]), total)
        results = [self.joined([builder.load(total) for total in own]) for own in sums]
        beside = builder.icmp_signed("==", c_column, c_column.type(self.parts))
        with builder.if_else(beside) as (then, otherwise):
            with then:
                for place, result in zip(self.down(c, c_row), results, strict=True):
                    self.store(result, place)
            with otherwise:
                for place, result in zip(self.down(c, c_row), results, strict=True):
                    self.scatter(result, place, c_column)

    def copy(self, source, place, target, k):
        """A strip of columns."""
        start, row, column = self.matrix(source, place)
        target = self.builder.bitcast(target, self.real.as_pointer())
        with cgutils.for_range(self.builder, k) as loop:
            numbers = self.gather(self.builder.gep(start, [self.builder.mul(loop.index, row)]), column)
            self.store(numbers, self.builder.gep(target, [self.builder.mul(loop.index, row.type(self.lanes))]))

    def matrix(self, block, place):
        """A pointer to the first number of a matrix, and its steps in real numbers."""
        start, row, column = (
            self.builder.mul(step, step.type(self.parts)) for step in cgutils.unpack_tuple(self.builder, place, 3)
        )
        return self.builder.gep(self.builder.bitcast(block, self.real.as_pointer()), [start]), row, column

    def down(self, pointer, step):
        """Pointers to the beginning of every row."""
        return [self.builder.gep(pointer, [self.builder.mul(step, step.type(row))]) for row in range(self.rows)]

    def load(self, pointer):
        return self.builder.load(self.builder.bitcast(pointer, self.vector.as_pointer()), align=self.size)

    def store(self, vector, pointer):
        self.builder.store(vector, self.builder.bitcast(pointer, vector.type.as_pointer()), align=self.size)

    def scatter(self, vector, pointer, step):
        """Store entries that do not lie side by side."""
        for column in range(self.columns):
            number = self.shuffled(vector, [column * self.parts + part for part in range(self.parts)])
            self.store(number, self.builder.gep(pointer, [self.builder.mul(step, step.type(column))]))

    def gather(self, pointer, step):
        """A vector of entries that do not lie side by side."""
        vector = ir.Constant(self.vector, ir.Undefined)
        for column in range(self.columns):
            place = self.builder.gep(pointer, [self.builder.mul(step, step.type(column))])
            for part in range(self.parts):
                number = self.builder.load(self.builder.gep(place, [INT(part)]))
                vector = self.builder.insert_element(vector, number, INT(column * self.parts + part))
        return vector

    def spread(self, number):
        """A vector of one repeated entry."""
        vector = self.builder.insert_element(ir.Constant(self.vector, ir.Undefined), number, INT(0))
        return self.shuffled(vector, [0] * self.lanes)

    def joined(self, sums):
        """P + iQ: i times a number exchanges its parts and turns the sign of the new real one."""
        if self.parts == 1:
            return sums[0]
        turned = self.shuffled(sums[1], [lane ^ 1 for lane in range(self.lanes)])
        signs = ir.Constant(self.vector, [-1.0, 1.0] * self.columns)
        return self.builder.call(self.multiply_add, [turned, signs, sums[0]])

    def shuffled(self, vector, lanes):
        mask = ir.Constant(ir.VectorType(INT, len(lanes)), lanes)
        return self.builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)
