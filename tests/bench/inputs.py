# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Where the numbers live and how time is read: a CUDA device through torch, or host memory through numpy for the self-test.
# Inputs are random with mixed signs, never zeros, and rotate over more bytes than any cache holds. Test layer.
"""Backends and rotating inputs."""
import time

from workloads import BYTES, INTEGERS

FEWEST_SETS = 4  # calls that overlap must not read the same bytes
SLACK = 4096  # bytes after the last set, so that an offset never runs out of the pool


class OnDevice:
    """torch on one GPU."""

    def __init__(self, torch, seed):
        self.m = self.torch = torch
        self.stream_object = torch.cuda.Stream()
        torch.cuda.set_stream(self.stream_object)
        self.stream = self.stream_object.cuda_stream
        self.generator = torch.Generator(device="cuda")
        self.generator.manual_seed(seed)
        self.dtypes = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32, "i8": torch.int8,
                       "bf16": torch.bfloat16, "c64": torch.complex64}
        self.pool, self.pool_key = None, None

    def describe(self):
        t = self.torch
        p = t.cuda.get_device_properties(0)
        return {"device": p.name, "multiprocessors": p.multi_processor_count, "L2 bytes": getattr(p, "L2_cache_size", None),
                "memory bytes": p.total_memory, "torch": t.__version__, "cuda": t.version.cuda}

    def free_bytes(self):
        held = self.pool.element_size() * self.pool.numel() if self.pool is not None else 0
        return self.torch.cuda.mem_get_info()[0] + held

    def random(self, type_name, count):
        """One pool of at least count elements, kept until the type changes or more is needed."""
        if self.pool_key == type_name and self.pool.numel() >= count:
            return self.pool
        t, self.pool, self.pool_key = self.torch, None, None
        t.cuda.empty_cache()
        if type_name in INTEGERS:
            low, high = INTEGERS[type_name]
            pool = t.empty(count, dtype=self.dtypes[type_name], device="cuda")
            pool.random_(low, high, generator=self.generator)
        else:
            pool = t.empty(count, dtype=self.dtypes[type_name], device="cuda")
            pool.normal_(generator=self.generator)
        self.pool, self.pool_key = pool, type_name
        t.cuda.synchronize()
        return pool

    def address(self, pool):
        return pool.data_ptr()

    def wide(self, part):
        return part.to(self.torch.complex128 if part.is_complex() else self.torch.float64)

    def i64(self, part):
        return part.to(self.torch.int64)

    def synchronize(self):
        self.torch.cuda.synchronize()

    def event(self):
        return self.torch.cuda.Event(enable_timing=True)

    def record(self, event):
        event.record(self.stream_object)

    def elapsed_us(self, begin, end):
        return begin.elapsed_time(end) * 1e3


class OnHost:
    """numpy and a wall clock: logic only, no figure of it means anything."""

    def __init__(self, numpy, seed):
        self.m = self.numpy = numpy
        self.stream = None
        self.rng = numpy.random.default_rng(seed)
        self.dtypes = {"f32": numpy.float32, "f64": numpy.float64, "i32": numpy.int32, "i8": numpy.int8,
                       "c64": numpy.complex64}
        self.pool, self.pool_key = None, None

    def describe(self):
        return {"device": "host (self-test: no figure here means anything)", "numpy": self.numpy.__version__}

    def free_bytes(self):
        return 2**31

    def random(self, type_name, count):
        if self.pool_key == type_name and self.pool.size >= count:
            return self.pool
        if type_name in INTEGERS:
            self.pool = self.rng.integers(*INTEGERS[type_name], size=count, dtype=self.dtypes[type_name])
        elif type_name == "c64":
            self.pool = (self.rng.standard_normal(count) + 1j * self.rng.standard_normal(count)).astype("complex64")
        else:
            self.pool = self.rng.standard_normal(count).astype(self.dtypes[type_name])
        self.pool_key = type_name
        return self.pool

    def address(self, pool):
        return pool.ctypes.data

    def wide(self, part):
        return part.astype("complex128" if part.dtype.kind == "c" else "float64")

    def i64(self, part):
        return part.astype("int64")

    def synchronize(self):
        pass

    def event(self):
        return [0.0]

    def record(self, event):
        event[0] = time.perf_counter()

    def elapsed_us(self, begin, end):
        return (end[0] - begin[0]) * 1e6


class Inputs:
    """The columns of one row: `sets` copies apart in one pool, so that a burst never meets warm data."""

    def __init__(self, backend, row, rotate_bytes):
        size = BYTES[row.type]
        self.backend, self.row = backend, row
        self.stride_bytes = -(-(row.n * size + row.offset * size) // 256) * 256
        self.sets = max(FEWEST_SETS, -(-rotate_bytes // (self.stride_bytes * row.work.columns)))
        self.stride = self.stride_bytes // size
        self.span = self.stride * self.sets + SLACK // size
        self.pool = backend.random(row.type, self.span * row.work.columns)

    def start(self, c, which=0):
        return self.span * c + self.stride * which + self.row.offset

    def address(self, c):
        return self.backend.address(self.pool) + self.start(c) * BYTES[self.row.type]

    def column(self, c, which):
        at = self.start(c, which)
        return self.pool[at:at + self.row.n]

    def columns(self, which):
        return [self.column(c, which) for c in range(self.row.work.columns)]

    def views(self):
        """Per set the tuple of its columns, made once: making a view costs as much as a small reduction."""
        per_column = []
        for c in range(self.row.work.columns):
            at = self.start(c)
            grid = self.pool[at:at + self.stride * self.sets].as_strided((self.sets, self.row.n), (self.stride, 1))
            per_column.append(grid.unbind(0))
        return list(zip(*per_column))


def needed_bytes(row, rotate_bytes):
    """What Inputs will ask the device for."""
    one = row.n * BYTES[row.type] * row.work.columns
    return max(FEWEST_SETS * one + 3 * (SLACK + 512), rotate_bytes + one)
