# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What is measured: each workload's columns, its answer in f64 (or in exact integers) with the error a working contestant may
# show, and torch's way to say it. Written over torch and numpy alike, so that the self-test needs no torch. Test layer.
"""The workloads of rows 1-5 of the performance plan."""
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Callable

BYTES = {"f32": 4, "f64": 8, "i32": 4, "i8": 1, "bf16": 2, "c64": 8}
INTEGERS = {"i32": (-(2**31), 2**31), "i8": (-128, 128)}
# The unit roundoff of the accumulator, not of the element: bf16 is summed in f32.
ROUNDOFF = {"f32": 2.0**-24, "bf16": 2.0**-24, "c64": 2.0**-24, "f64": 2.0**-53, "i32": 0.0, "i8": 0.0}


def growth(n):
    """Roundoffs that a sum of n terms in any sensible order stays under (seen: sequential atomics come nearest)."""
    return 32.0 + math.sqrt(n) / 32.0


@dataclass
class Workload:
    """One reduction: partial sums per chunk, the answer out of them, and the plants that make a lost end visible."""

    name: str
    columns: int
    types: tuple
    parts: Callable  # (m, columns as f64 chunks, position of the chunk) -> list of partial values
    answer: Callable  # (summed parts, n, roundoff) -> [(value, tolerance)]
    joins: tuple = ()  # how partial values of two chunks join: "+", "min", "max", "first max"
    plants: tuple = (37.25, -53.5)  # written to the first and last element of every column during the check
    eager: Callable = None  # (torch, *columns) -> tuple of tensors
    compiled: Callable = None  # the same for torch.compile, where the best way to write it differs
    row: int = 1
    title: str = field(default="")


def mixed(m, terms):
    """A sum whose terms cancel, and the size of its noise: root of the sum of squares."""
    return [float(terms.sum()), float((terms * terms).sum())]


def mixed_answer(parts, n, u, over=1.0):
    return [(parts[0] / over, u * growth(n) * math.sqrt(parts[1]) / over + 2 * u * abs(parts[0]) / over)]


def positive_answer(parts, n, u):
    return [(parts[0], (u * growth(n) + 8 * u) * parts[0])]


def norm_answer(parts, n, u):
    return [(math.sqrt(parts[0]), u * (growth(n) + 8) * math.sqrt(parts[0]))]


def variance_of(parts, n):
    return parts[1] / n - (parts[0] / n) ** 2


def five_answer(parts, n, u):
    (total, room), = mixed_answer(parts, n, u)
    var = variance_of(parts, n)
    return [(total, room), (parts[2], 0.0), (parts[3], 0.0), (total / n, room / n),
            (var, u * (growth(n) + 8) * parts[1] / n)]


def argmax_parts(m, x, at):
    best = int(m.argmax(x))
    return [(float(x[best]), at + best)]


def complex_parts(m, x):
    return mixed(m, x.real) + mixed(m, x.imag)


def complex_answer(parts, n, u):
    return mixed_answer(parts[:2], n, u) + mixed_answer(parts[2:], n, u)


def five_parts(m, x):
    return mixed(m, x) + [float(x.min()), float(x.max())]


def eager_five(t, x):
    low, high = t.aminmax(x)
    var, mean = t.var_mean(x, correction=0)
    return t.sum(x), low, high, mean, var


def compiled_five(t, x):
    var, mean = t.var_mean(x, correction=0)
    return x.sum(), x.amin(), x.amax(), mean, var


ALL = [
    Workload("sum", 1, ("f32", "i32", "f64", "bf16", "i8"), lambda m, c, at: mixed(m, c[0]), mixed_answer, ("+", "+"),
             eager=lambda t, x: (t.sum(x, dtype=t.float32 if x.dtype == t.bfloat16 else None),)),
    Workload("dot", 2, ("f32",), lambda m, c, at: mixed(m, c[0] * c[1]), mixed_answer, ("+", "+"),
             eager=lambda t, x, y: (t.dot(x, y),), compiled=lambda t, x, y: ((x * y).sum(),), row=2),
    Workload("norm", 1, ("f32",), lambda m, c, at: [float((c[0] * c[0]).sum())], norm_answer, ("+",),
             eager=lambda t, x: (t.linalg.vector_norm(x),), row=2),
    Workload("sad", 2, ("f32",), lambda m, c, at: [float(abs(c[0] - c[1]).sum())], positive_answer, ("+",),
             plants=(37.25, -53.5), eager=lambda t, x, y: ((x - y).abs().sum(),), row=2),
    Workload("wmse", 3, ("f32",), lambda m, c, at: mixed(m, c[2] * (c[0] - c[1]) ** 2),
             lambda p, n, u: mixed_answer(p, n, u, over=float(n)), ("+", "+"),
             eager=lambda t, x, y, w: ((w * (x - y) * (x - y)).mean(),), row=2),
    Workload("sumexp", 1, ("f32",), lambda m, c, at: [float(m.exp(c[0]).sum())], positive_answer, ("+",),
             plants=(9.0, 10.5), eager=lambda t, x: (x.exp().sum(),), row=2),
    Workload("five", 1, ("f32",), lambda m, c, at: five_parts(m, c[0]), five_answer, ("+", "+", "min", "max"),
             eager=eager_five, compiled=compiled_five, row=3),
    Workload("argmax", 1, ("f32",), lambda m, c, at: argmax_parts(m, c[0], at), lambda p, n, u: [(p[0][1], 0.0)],
             ("first max",), eager=lambda t, x: (t.argmax(x),), row=3),
    Workload("seven", 1, ("f32",), lambda m, c, at: five_parts(m, c[0]) + argmax_parts(m, c[0], at),
             lambda p, n, u: five_answer(p[:4], n, u) + [(p[1], u * (growth(n) + 8) * p[1]), (p[4][1], 0.0)],
             ("+", "+", "min", "max", "first max"),
             eager=lambda t, x: (*eager_five(t, x), t.dot(x, x), t.argmax(x)),
             compiled=lambda t, x: (*compiled_five(t, x), (x * x).sum(), t.argmax(x)), row=3),
    Workload("sum", 1, ("c64",), lambda m, c, at: complex_parts(m, c[0]), complex_answer, ("+",) * 4,
             eager=lambda t, x: (t.sum(x),), row=4),
    Workload("logsumexp", 1, ("f32",), lambda m, c, at: [float(m.exp(c[0]).sum())],
             lambda p, n, u: [(math.log(p[0]), u * (growth(n) + 8) + 4 * u * abs(math.log(p[0])))], ("+",),
             plants=(9.0, 10.5), eager=lambda t, x: (t.logsumexp(x, 0),), row=4),
    Workload("variance", 1, ("f32",), lambda m, c, at: mixed(m, c[0]),
             lambda p, n, u: [(variance_of(p, n), u * (growth(n) + 8) * p[1] / n)], ("+", "+"),
             eager=lambda t, x: (t.var(x, correction=0),), row=4),
]


def find(name, type_name):
    """The workload of that name for that element type, or None."""
    return next((w for w in ALL if w.name == name and type_name in w.types), None)


def join(how, a, b):
    if how == "+":
        return a + b
    if how == "min":
        return min(a, b)
    if how == "max":
        return max(a, b)
    return a if a[0] >= b[0] else b  # first max: the earlier chunk keeps a tie


def exact_integers(backend, column, n, chunk):
    total = 0
    for at in range(0, n, chunk):
        total += int(backend.i64(column[at:min(n, at + chunk)]).sum())
    return [(float(total), 0.0)]


def exact_doubles(backend, column, n, chunk):
    """The f64 sum without rounding: each element cut into two integers (good to 2^-57 an element)."""
    high = low = 0
    squares = 0.0
    for at in range(0, n, chunk):
        part = column[at:min(n, at + chunk)]
        scaled = part * 2.0**26
        whole = backend.m.trunc(scaled)
        high += int(backend.i64(whole).sum())
        low += int(backend.i64((scaled - whole) * 2.0**30).sum())
        squares += float((part * part).sum())
    value = float(Fraction(high, 2**26) + Fraction(low, 2**56))
    u = ROUNDOFF["f64"]
    return [(value, u * growth(n) * math.sqrt(squares) + 2 * u * abs(value))]


def reference(backend, work, type_name, columns, n, chunk=1 << 26):
    """[(value, tolerance)] of the workload on these columns."""
    if type_name in INTEGERS:
        return exact_integers(backend, columns[0], n, chunk)
    if type_name == "f64":
        return exact_doubles(backend, columns[0], n, chunk)
    parts = None
    for at in range(0, n, chunk):
        wide = [backend.wide(c[at:min(n, at + chunk)]) for c in columns]
        here = work.parts(backend.m, wide, at)
        parts = here if parts is None else [join(h, a, b) for h, a, b in zip(work.joins, parts, here)]
    return work.answer(parts, n, ROUNDOFF[type_name])
