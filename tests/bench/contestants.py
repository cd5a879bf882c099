# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Who is measured: contestants in shared objects (contestant.h, through ctypes), torch eager and torch.compile, all behind one
# small Python class. A contestant that cannot take a row says why and the row goes on without it. Test layer.
"""Contestants of the bench."""
import ctypes
from pathlib import Path

ABI = 2
RESULTS = 8


class Refused(Exception):
    """A contestant that cannot take this row; the text says why."""


class Entry(ctypes.Structure):
    _fields_ = [("workload", ctypes.c_char_p), ("type", ctypes.c_char_p), ("variant", ctypes.c_char_p),
                ("kind", ctypes.c_char_p), ("columns", ctypes.c_int32), ("results", ctypes.c_int32),
                ("alignment", ctypes.c_int32), ("multiple_of", ctypes.c_int32), ("n_max", ctypes.c_int64)]


class Card(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_int32), ("entry_count", ctypes.c_int32), ("name", ctypes.c_char_p),
                ("version", ctypes.c_char_p), ("entries", ctypes.POINTER(Entry))]


Columns = ctypes.c_void_p * 3
Strides = ctypes.c_int64 * 3


class Library:
    """One shared object."""

    def __init__(self, path):
        self.path = Path(path)
        self.lib = lib = ctypes.CDLL(str(path))
        lib.contest_describe.restype = ctypes.POINTER(Card)
        lib.contest_prepare.restype = ctypes.c_void_p
        lib.contest_prepare.argtypes = [ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
        lib.contest_burst.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64,
                                      ctypes.c_int64, ctypes.c_void_p]
        lib.contest_results.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_double)]
        lib.contest_poison.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        lib.contest_release.argtypes = [ctypes.c_void_p]
        lib.contest_error.restype = ctypes.c_char_p
        card = lib.contest_describe().contents
        if card.abi != ABI:
            raise Refused(f"{path}: contestant.h version {card.abi}, {ABI} expected")
        self.name, self.version = card.name.decode(), card.version.decode()
        self.entries = [card.entries[i] for i in range(card.entry_count)]

    def error(self):
        return (self.lib.contest_error() or b"").decode() or "no reason given"

    def entrants(self):
        return [InLibrary(self, i, e) for i, e in enumerate(self.entries)]


class InLibrary:
    """One entry of a shared object."""

    def __init__(self, library, index, entry):
        self.library, self.index, self.entry = library, index, entry
        self.workload, self.type = entry.workload.decode(), entry.type.decode()
        self.variant, self.kind = entry.variant.decode(), entry.kind.decode()
        self.results_count = entry.results
        self.label = f"{library.name} {self.variant}"
        self.handle = None

    def group(self):
        """The table's column that this entry competes for."""
        if self.kind == "tally":
            return f"tally {self.variant}"
        if self.kind == "ceiling":
            return "ceiling"
        if self.library.name.startswith("cub"):
            if "thrust" in self.variant:
                return "thrust"
            for level in ("not_guaranteed", "gpu_to_gpu"):
                if level in self.variant:
                    return f"cub {level}"
        return self.library.name

    def takes(self, row):
        e = self.entry
        return (row.n <= e.n_max and row.n % e.multiple_of == 0
                and (row.offset_bytes % e.alignment == 0))

    def prepare(self, row, inputs, stream):
        self.columns = Columns(*[inputs.address(c) if c < row.work.columns else None for c in range(3)])
        self.strides = Strides(*[inputs.stride_bytes if c < row.work.columns else 0 for c in range(3)])
        self.sets, self.stream = inputs.sets, stream
        self.handle = self.library.lib.contest_prepare(self.index, row.n, ctypes.addressof(self.columns), stream)
        if not self.handle:
            raise Refused(self.library.error())

    def burst(self, first, count):
        if self.library.lib.contest_burst(self.handle, ctypes.addressof(self.columns), ctypes.addressof(self.strides),
                                          self.sets, first, count, self.stream):
            raise Refused(self.library.error())

    def poison(self):
        return self.library.lib.contest_poison(self.handle, self.stream) == 0

    def results(self):
        out = (ctypes.c_double * RESULTS)()
        if self.library.lib.contest_results(self.handle, out):
            raise Refused(self.library.error())
        return list(out[:self.results_count])

    def release(self):
        if self.handle:
            self.library.lib.contest_release(self.handle)
            self.handle = None


class Torch:
    """torch, eager or compiled, as a user calls it: answers stay on the device in torch's own tensors."""

    kind = "peer"

    def __init__(self, torch, work, type_name, compiled):
        self.torch, self.work, self.type, self.workload = torch, work, type_name, work.name
        self.compiled = compiled
        self.variant = "compile max-autotune" if compiled else "eager"
        self.label = f"torch {self.variant}"
        self.answer = None

    def group(self):
        return "inductor" if self.compiled else "torch"

    def takes(self, row):
        return not self.compiled or row.compile

    def prepare(self, row, inputs, stream):
        self.views = inputs.views()
        call = self.work.compiled if self.compiled and self.work.compiled else self.work.eager
        torch = self.torch

        def run(*columns):
            return call(torch, *columns)

        if self.compiled:
            from torch import _dynamo

            _dynamo.reset()
            run = torch.compile(run, mode="max-autotune-no-cudagraphs", dynamic=False)
        self.run = run
        self.answer = run(*self.views[0])  # compiles

    def burst(self, first, count):
        views, sets, run = self.views, len(self.views), self.run
        for k in range(first, first + count):
            answer = run(*views[k % sets])
        self.answer = answer

    def poison(self):
        self.answer = None
        return True

    def results(self):
        out = []
        for part in self.answer:
            value = part.item()
            out += [value.real, value.imag] if isinstance(value, complex) else [float(value)]
        return out

    def release(self):
        self.views = self.answer = self.run = None


def load(folder, pattern, notes):
    """Every contestant library in a folder; what cannot be loaded becomes a note."""
    libraries = []
    for path in sorted(Path(folder).glob(pattern)):
        try:
            libraries.append(Library(path))
        except (OSError, Refused, AttributeError) as reason:
            notes.append(f"{path.name} not loaded: {reason}")
    return libraries
