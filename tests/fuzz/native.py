"""Random kernels, compiled and run by Python; those that mean something else to the translator must be refused."""

import importlib.util
import tempfile
from pathlib import Path

import numpy as np

from qad.native import Kernels

HEAD = """from qad.native import COMPLEX, FLOAT, INT, Block

def two(a, u):
    if a > 3:
        return a - 2, u * a
    return 2 * a, u - 1

def first(x, least):
    for i in range(len(x)):
        if x[i] > least:
            return i
    return -1

def kernel(x: Block(INT), r: Block(FLOAT), z: Block(COMPLEX), out: Block(INT), found: Block(FLOAT)):
    a, b, c = x[0], x[1], x[2]
    u, v = r[0], r[1]
    p = a < b
    w = z[0]
"""
TAIL = """    out[0], out[1], out[2], out[3] = a, b, c, p
    found[0], found[1], found[2], found[3] = u, v, w.real, w.imag
"""
MANY = """for i, y in enumerate(x):
    a += i

for i, y in zip(x, x):
    a = y

while False:
    a = 1

while a < b:
    break
else:
    c = 7

for i in range(3):
    a += i
else:
    b = 1

for y in (1, 2, 3):
    if a > y:
        break
    a += y

for y in (1, 2, 3):
    if a > y:
        continue
    a += 1

if a > b:
    new = c
a = new

for i in range(a):
    b = i
c = i

if w:
    a = 1

for y in x[1:4]:
    a = (a + y) % 77

def g():
    pass

while True:
    a -= 1
    if a < 0:
        return

for i in range(4):
    i = i * 2
    a += i

n = 3
for i in range(n):
    n = 0
    a += 1

for i in range(9, a, -2):
    c = i"""
ONE = """a = b or 5
a = (b > 2 or c) + 1
p = a not in (1, 2)
p = a in range(1, 9, 2)
a = ~b
a = +b
b = ~p
a = x[-1]
b = first(x[::2], 0)
b = first(least=2, x=x)
a = bool(b) + 1
p = a is b
a = int(c) + 1
a = sum([k for k in (1, 2, 3) if k != 2])
a = 0.5
a = u
p = 7
p = a
a = p
u = a
a = -p
a, b, c, u = x[0:4]
a = len(x[1:-1])
a = a / (b | 1)
u = a / (b | 1)
v = a ** 2
u = 2 ** (a & 7)
u = 2.0 ** (a & 7)
a = x[1, 0]
a = min((a, b))
w = w * w - 1
w = 1j * w
u = abs(w)
p = w == z[1]
a = 2**63 - 1 - (2**63 - 2)
a = 2**64 + a - 2**64
a = (0 if p else 0.5) * 2
u = 0 if p else 0.5
u = 1 if p else v
a = a // -3
a = a % -4
a = -7 // 2 + -7 % 3
a = x[1:3][1]
x[1:3][0] = a % 50
a = (1, 2, 3)[1:][0]
a = len((1, 2))
p = not a
p = not (a and b)
a = max(a, u)
u = max(a, u)
a = (3, 4, 5)[-1]
r[1] = a
x[1] = u
found[0] = p
a = 3 if u != u else 4
p = 0 < a < 9 < b
a, b = b, a
u, v = v, u
a = b = c
w, z[1] = z[1], w
x[0], x[1] = x[1], x[0]
p = a == 1.0
w = complex(u, v)
w = u
a = a << (b & 3) >> 2
a = a % 1 + a // 1
a = a // 4 + a % 4 + a // 2
del a"""
STRANGE = MANY.split("\n\n") + ONE.split("\n")  # what translators get wrong


class Writer:
    """Writes the body of a kernel."""

    def __init__(self, rng):
        self.rng, self.count = rng, 0

    def one(self, *of):
        return of[self.rng.integers(len(of))]

    def whole(self, depth=2):
        if depth == 0:
            return self.one("a", "b", "c", "x[3]", "out[2]", str(self.rng.integers(-9, 10)))
        s, t = self.whole(depth - 1), self.whole(depth - 1)
        return self.one(
            f"({s} + {t})", f"({s} - {t})", f"({s} * {t})", f"({s} // ({t} | 1))", f"({s} % ({t} | 1))", f"-{s}",
            f"({s} % 8)", f"({s} // 16)", f"({s} << ({t} & 3))", f"({s} >> ({t} & 7))", f"({s} & {t})", f"({s} | {t})",
            f"({s} ^ {t})", f"min({s}, {t})", f"max({s}, {t}, 2)", f"abs({s})", f"({s} if {self.test(0)} else {t})",
            f"({self.test(0)}) + {s}", f"two({s}, u)[0]", f"first(x, {s})", f"x[{s} & 3]", f"~{s}", f"({s} % -3)",
        )  # fmt: skip

    def real(self, depth=2):
        if depth == 0:
            return self.one("u", "v", "r[2]", "found[1]", "w.real", "z[1].imag", "0.5", "-1.25", "float(a)")
        s, t = self.real(depth - 1), self.real(depth - 1)
        return self.one(
            f"({s} + {t})", f"({s} - {t})", f"({s} * {t})", f"({s} / {t})", f"-{s}", f"max({s}, {t})", f"min({s}, {t})",
            f"abs({s})", f"({s} if {self.test(0)} else {t})", f"({s} * {self.whole(1)})", f"({self.whole(1)} / ({s}))",
            f"two(a, {s})[1]", f"(u * {s} if {self.test(0)} else {t})", f"{s} * (1 if {self.test(0)} else -1)",
        )  # fmt: skip

    def test(self, depth=1):
        compare = self.one("<", "<=", ">", ">=", "==", "!=")
        if depth == 0:
            between = f"1 {compare} b {compare} 9"
            return self.one("p", f"a {compare} b", f"u {compare} v", "a in (1, 2, 5)", between, "w == z[1]")
        s, t = self.test(0), self.test(0)
        return self.one(s, f"{s} and {t}", f"{s} or {t}", f"not ({s})", f"{self.whole(0)} {compare} {self.whole(1)}")

    def body(self, depth, looping):
        lines = []
        for _ in range(self.rng.integers(1, 4)):
            lines += self.statement(depth, looping)
        return ["    " + line for line in lines]

    def statement(self, depth, looping):
        kind = self.rng.integers(14)
        if kind < 3:
            return [f"{self.one('a', 'b', 'c')} = ({self.whole()}) % 1009 - 300"]
        if kind < 5:
            return [f"{self.one('u', 'v')} = {self.real()}"]
        if kind == 5:
            x = self.one("w + z[1]", "w * z[1]", "-w", "complex(u, w.real)", "w - a", "z[0] if p else w")
            return [f"w = {x}"]
        if kind == 6:
            op = self.one("+", "-", "^", "&", "|")
            return [f"{self.one('a', 'b', 'out[2]', 'x[3]')} {op}= ({self.whole(1)}) % 97", "x[3] %= 97"]
        if kind == 7:
            return [f"{self.one('u', 'found[1]', 'r[2]')} {self.one('+', '-', '*', '/')}= {self.real(1)}"]
        if kind == 8:
            return self.one(f"p = {self.test()}", "a, u = two(b, v)\na %= 99", "b, c = c % 50, b").split("\n")
        if depth == 0 or kind == 9:
            return self.one("continue", "break", "pass").split() if looping and self.rng.integers(2) else ["pass"]
        if kind == 10 and self.rng.integers(3) == 0:
            return self.one(*STRANGE).split("\n")
        if kind in (10, 11):
            lines = [f"if {self.test()}:", *self.body(depth - 1, looping)]
            return lines + ["else:", *self.body(depth - 1, looping)] * self.rng.integers(2)
        self.count += 1
        n = f"n{self.count}"
        lines = self.body(depth - 1, kind == 12 or "loop")
        if kind == 12:
            step = self.one("", ", 2", ", -1", ", -3", ", (b & 1) + 1")
            low, high = self.one("0", "a % 4", "-2"), self.one("5", "b % 7")
            low, high = (high, low) if "-" in step else (low, high)
            return [f"for {n} in range({low}, {high}{step}):", f"    c = c + {n}", *lines, "c %= 211"]
        head = [f"{n} = {self.one('b % 5', '3')}", f"while {self.one(n + ' > 0', 'True')}:"]
        return [*head, f"    {n} -= 1", f"    if {n} < 0:", "        break", *lines]


def source(seed):
    """A kernel, in Python."""
    rng = np.random.default_rng(seed)
    writer, lines = Writer(rng), []
    for _ in range(rng.integers(2, 7)):
        lines += writer.statement(3, False)
    if rng.integers(2):
        lines += STRANGE[rng.integers(len(STRANGE))].split("\n")
    return HEAD + "".join(f"    {line}\n" for line in lines) + TAIL


def check(seed):
    """What is wrong with the kernel of a seed, if it is not refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"program{seed}.py"
        path.write_text(source(seed))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        kernels = Kernels(module.kernel, files=[path], fast=False)
        try:
            text = kernels.text("double")
        except (TypeError, ValueError, KeyError, AttributeError):
            return []
    return compare(module.kernel, kernels, text, np.random.default_rng(seed))


def compare(function, kernels, text, rng):
    """The difference between a function run by Python and compiled."""
    from qad.native import machine
    from qad.native.kernels import Kernel

    native = Kernel(function, "double", machine.loaded(machine.compiled(text), {}))
    for _ in range(4):
        reals = rng.choice([0.0, 0.5, -3.0, 1.75, np.inf, np.nan], 3, p=[0.2] * 4 + [0.1] * 2)
        given = [
            rng.integers(-20, 20, 4),
            reals,
            rng.choice([1.0, 2j, 0.5 - 1j], 2).astype(complex),
            np.zeros(4, int),
            np.zeros(4),
        ]
        expected = [x.astype(object) for x in given]
        try:
            function(*expected)
        except (ZeroDivisionError, OverflowError):
            continue
        except (UnboundLocalError, TypeError, ValueError, IndexError, AttributeError) as error:
            return [f"Python refuses: {error}"]
        if any(isinstance(n, int) and abs(n) >= 2**62 for x in expected for n in x):
            continue
        native(*given)
        for x, y in zip(given, expected, strict=True):
            if not np.array_equal(x, y.astype(x.dtype), equal_nan=x.dtype.kind != "i"):
                return [f"{x} where Python finds {y}"]
    return []
