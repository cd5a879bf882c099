#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sums along axes: tally beside torch, torch.compile and CUB's segments of one size, in one process on one device, interleaved, each
# answer checked against f64 first. tests/bench/build makes its libraries. Test layer.
"""Measures rows, columns and middle axes (rows 6 to 8 of the bars)."""
import argparse
import ctypes
import datetime
import math
import statistics
import sys
from pathlib import Path

from turns import measure

BUILT = Path(__file__).resolve().parents[2] / "build" / "bench"
TYPES = {"f32": 0, "bf16": 1}
CEILING = 4.65e12


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--types", default="f32,bf16")
    p.add_argument("--family", default="rows,columns,middle")
    p.add_argument("--log2", type=int, default=28, help="elements in all")
    p.add_argument("--trials", type=int, default=20)
    p.add_argument("--compiled", action="store_true", help="torch.compile too")
    p.add_argument("--exact", action="store_true", help="the sums under exact too")
    p.add_argument("--only", default="", help="comma list of extents such as 1x4096x65536")
    return p.parse_args()


def cases(a):
    """(family, extents of three axes, axes folded as bits)"""
    n = 1 << a.log2
    if a.only:
        for text in a.only.split(","):
            e, axes = text.split(":")
            yield "only", tuple(map(int, e.split("x"))), int(axes)
        return
    if "rows" in a.family:
        for size in (1, 2, 3, 5, 7, 8, 16, 31, 32, 63, 64, 100, 128, 255, 256, 511, 512, 1000, 1023, 1024, 1025, 2048, 2049, 3001, 3072, 4096, 5000, 5001,
                     8005, 16384, 16387, 17500, 28001, 40001, 50000, 65535, 65537, 1 << 17, (1 << 17) + 1, 500001, 1 << 20, (1 << 20) + 1, 1 << 24):
            yield "rows", (1, n // size, size), 4
    if "columns" in a.family:
        for rows, columns in ((1 << 26, 1), (1 << 24, 4), (1 << 20, 33), (1 << 23, 64), (1 << 20, 1024 >> 2), (1 << 16, 1024), (1 << 16, 4096),
                              (1 << 14, 16384), (64, 1 << 20), (8, 1 << 24)):
            if rows * columns <= n:
                yield "columns", (1, rows, columns), 2
    if "middle" in a.family:
        yield "middle", (64, 4096, 1024), 2
        yield "middle", (4096, 64, 1024), 2
        yield "middle", (256, 1024, 1024), 5
        yield "middle", (1024, 1000, 250), 2
        for run in (49, 64, 100, 196, 784, 3136):  # what batch normalisation folds
            yield "middle", (256, n // 256 // run, run), 5


def main():
    a = parse()
    import torch

    torch.cuda.set_stream(torch.cuda.Stream())
    torch.manual_seed(20261120)
    own = ctypes.CDLL(str(BUILT / "libaxes.so"))
    cub = ctypes.CDLL(str(BUILT / "libaxes_cub.so"))
    pointer, number = ctypes.c_void_p, ctypes.c_longlong
    own.axes_fold.argtypes = [ctypes.c_int] * 3 + [pointer, ctypes.POINTER(number), pointer, pointer]
    cub.cub_rows.argtypes = [ctypes.c_int, pointer, number, number, pointer, pointer]
    stream = torch.cuda.current_stream().cuda_stream
    properties = torch.cuda.get_device_properties(0)
    print("date:", datetime.datetime.now().isoformat(" ", "seconds"))
    print("command: tests/bench/axes.py", " ".join(sys.argv[1:]))
    print(f"device: {properties.name}, torch {torch.__version__}, cuda {torch.version.cuda}; median microseconds of {a.trials} interleaved trials")
    ratios, by_cub = {}, {}
    for type_name in a.types.split(","):
        dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[type_name]
        pool = torch.empty((1 << a.log2) + 64, dtype=torch.float32, device="cuda").uniform_(-0.5, 0.5).to(dtype)
        for family, e, axes in cases(a):
            x = pool[: math.prod(e)].view(*e)
            dims = [k for k in range(3) if axes >> k & 1]
            kept = [e[k] for k in range(3) if not axes >> k & 1]
            out = torch.full((math.prod(kept),), float("nan"), dtype=torch.float32, device="cuda")
            extents = (number * 3)(*e)

            def tally(fold=0):
                if own.axes_fold(TYPES[type_name], fold, axes, x.data_ptr(), extents, out.data_ptr(), stream):
                    sys.exit("tally failed")

            small = x.numel() <= 1 << 28
            in_f64 = x.double().sum(dims).flatten() if small else x.sum(dims, dtype=torch.float64).flatten()
            rounded_once = 2**-24 * (1 + 1e-3) * in_f64.abs() + 1e-12
            for fold, room in ((0, 1e-5 * math.sqrt(math.prod(e[k] for k in dims)) + 1e-6), (3, rounded_once))[: 2 if a.exact else 1]:
                tally(fold)
                torch.cuda.synchronize()
                if not ((out.double() - in_f64).abs() <= room).all():
                    print(f"{type_name} {e} {dims}, fold {fold}: WRONG by {(out.double() - in_f64).abs().max().item()}")
            contestants = {"tally": tally, "torch": lambda: torch.sum(x, dims, dtype=torch.float32)}
            if a.exact:
                contestants["exact"] = lambda: tally(3)
            if a.compiled:
                fold = torch.compile(lambda t: torch.sum(t, dims, dtype=torch.float32), mode="max-autotune-no-cudagraphs", dynamic=False)
                contestants["inductor"] = lambda: fold(x)
            if type_name == "f32" and family == "rows" or (family == "only" and axes == 4 and type_name == "f32"):
                result = torch.empty_like(out)
                for how, name in ((0, "cub fixed"), (1, "cub")):
                    if how == 1 and e[1] > 1 << 22:
                        continue
                    contestants[name] = lambda how=how: cub.cub_rows(how, x.data_ptr(), e[1], e[2], result.data_ptr(), stream)
            times = {name: statistics.median(t) for name, t in measure(torch, contestants, a.trials, calls=2, warm=2).items()}
            bytes_read = x.numel() * x.element_size()
            best = min(t for name, t in times.items() if name not in ("tally", "exact"))
            ratios.setdefault((type_name, family), []).append(best / times["tally"])
            if "cub fixed" in times:
                by_cub.setdefault(type_name, []).append(min(times["cub fixed"], times.get("cub", 1e9)) / times["tally"])
            text = "  ".join(f"{name} {t:.1f}" for name, t in times.items())
            rate = bytes_read / times["tally"] / 1e-6
            print(f"{type_name:5}{family:8}{'x'.join(map(str, e)):20} {rate / 1e9:6.0f} GB/s {100 * rate / CEILING:4.0f} %  best peer/tally {best / times['tally']:5.2f}  {text}",
                  flush=True)
            del x, out, in_f64
    for key, r in ratios.items():
        print(f"{key[0]} {key[1]}: least {min(r):.2f} (bar 0.95), geometric mean {math.exp(statistics.fmean(map(math.log, r))):.2f} of the best peer")
    for key, r in by_cub.items():
        print(f"{key} rows beside CUB: geometric mean {math.exp(statistics.fmean(map(math.log, r))):.2f} (bar 1.5)")


main()
