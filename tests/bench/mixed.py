#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Rows, columns and total of one matrix, or of a batch of them, in one read: tally beside itself in a read for each, three passes of torch and torch.compile,
# in one process on one device, interleaved, each answer checked against f64 first. The target `mixed` of the build makes its library. Test layer.
"""Measures row 9 of the bars."""
import ctypes
import statistics
import sys

from turns import measure, options_of_matrices, say_what_runs

CEILING = 4.65e12


def parse():
    p = options_of_matrices(__doc__, "libmixed.so", "65536x4096,4096x65536,8192x32768,16384x1024")
    p.add_argument("--in-turn", action="store_true", help="shapes of a batch, MxRxC, are R x M x C elements: its rows lie in turn")
    return p.parse_args()


def main():
    a = parse()
    import torch

    torch.cuda.set_stream(torch.cuda.Stream())
    torch.manual_seed(20261120)
    own = ctypes.CDLL(a.library)
    pointer, number = ctypes.c_void_p, ctypes.c_longlong
    own.mixed_sums.argtypes = [ctypes.c_int, ctypes.c_int, pointer, number, number, number, ctypes.c_int, pointer, pointer, pointer, pointer]
    stream = torch.cuda.current_stream().cuda_stream
    say_what_runs(torch, a.trials)
    for kind, type_name in enumerate(("f32", "bf16")):
        if type_name not in a.types.split(","):
            continue
        for shape in a.shapes.split(","):
            matrices, rows, columns = ([1] + [int(n) for n in shape.split("x")])[-3:]
            extents = (rows, columns) if matrices == 1 else (rows, matrices, columns) if a.in_turn else (matrices, rows, columns)
            down, across = (1 if len(extents) == 3 and not a.in_turn else 0), len(extents) - 1
            x = torch.empty(extents, device="cuda").uniform_(-0.5, 1).to({"f32": torch.float32, "bf16": torch.bfloat16}[type_name])
            out = [torch.full((n,), float("nan"), device="cuda") for n in (matrices * columns, matrices * rows, 1)]

            def tally(apart=0):
                if own.mixed_sums(kind, apart, x.data_ptr(), matrices, rows, columns, a.in_turn, *(o.data_ptr() for o in out), stream):
                    sys.exit("tally failed")

            tally()
            torch.cuda.synchronize()
            exact = [x.sum(down, dtype=torch.float64).flatten(), x.sum(across, dtype=torch.float64).flatten(), x.sum(dtype=torch.float64).reshape(1)]
            for name, o, e in zip(("columns", "rows", "total"), out, exact):
                if not ((o.double() - e).abs() <= 1e-5 * e.abs() + 1e-2).all():
                    print(f"{type_name} {shape} {name}: WRONG by {(o.double() - e).abs().max().item()}")
            f32 = torch.float32
            contestants = {"tally": tally, "apart": lambda: tally(1), "three passes": lambda: (x.sum(down, dtype=f32), x.sum(across, dtype=f32), x.sum(dtype=f32))}
            if a.compiled:
                fold = torch.compile(lambda t: (t.sum(down, dtype=f32), t.sum(across, dtype=f32), t.sum(dtype=f32)), mode="max-autotune-no-cudagraphs",
                                     dynamic=False)
                contestants["inductor"] = lambda: fold(x)
            times = {name: statistics.median(t) for name, t in measure(torch, contestants, a.trials, calls=4).items()}
            rate = x.numel() * x.element_size() / times["tally"] / 1e-6
            best = min(t for name, t in times.items() if name not in ("tally", "apart"))
            text = "  ".join(f"{name} {t:.1f}" for name, t in times.items())
            print(f"{type_name:5}{shape:16} {rate / 1e9:6.0f} GB/s {100 * rate / CEILING:4.0f} %  best peer/tally {best / times['tally']:5.2f}  {text}", flush=True)
            del x, out, exact


main()
