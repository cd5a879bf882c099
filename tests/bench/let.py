#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Softmax, layer norm, logsumexp and variance of every row, exponentials of every element, transposes: tally beside torch, torch.compile and a copy, in one process on one device,
# interleaved, each answer checked against f64 first. tests/bench/build makes its libraries. Test layer.
"""Measures row 10 of the bars."""
import argparse
import ctypes
import datetime
import statistics
import sys
from pathlib import Path

from turns import measure

BUILT = Path(__file__).resolve().parents[2] / "build" / "bench"


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--shapes", default="262144x1024,65536x4096,16384x16384,8192x32768,262400x1023")
    p.add_argument("--trials", type=int, default=15)
    p.add_argument("--compiled", action="store_true", help="torch.compile too")
    return p.parse_args()


def main():
    a = parse()
    import torch

    torch.cuda.set_stream(torch.cuda.Stream())
    torch.manual_seed(20261122)
    pointer, number = ctypes.c_void_p, ctypes.c_longlong
    let, axes = ctypes.CDLL(str(BUILT / "liblet.so")), ctypes.CDLL(str(BUILT / "libaxes.so"))
    let.let_rows.argtypes = [ctypes.c_int, pointer, number, number, pointer, pointer]
    let.let_weighted_rows.argtypes = [pointer] * 3 + [number] * 2 + [pointer] * 2
    let.let_turned.argtypes = [pointer, number, number, pointer, pointer]
    axes.axes_fold.argtypes = [ctypes.c_int] * 3 + [pointer, ctypes.POINTER(number), pointer, pointer]
    stream = torch.cuda.current_stream().cuda_stream
    print("date:", datetime.datetime.now().isoformat(" ", "seconds"))
    print("command: tests/bench/let.py", " ".join(sys.argv[1:]))
    print(f"device: {torch.cuda.get_device_properties(0).name}, torch {torch.__version__}; median microseconds of {a.trials} interleaved trials of one call")
    for shape in a.shapes.split(","):
        rows, columns = map(int, shape.split("x"))
        x = torch.empty(rows, columns, device="cuda").uniform_(-4, 4)
        y, per_row = torch.empty_like(x), torch.empty(rows, device="cuda")
        w, b = torch.empty(columns, device="cuda").uniform_(-1, 1), torch.empty(columns, device="cuda").uniform_(-1, 1)
        extents = (number * 3)(1, rows, columns)
        own_let = lambda what: lambda: let.let_rows(what, x.data_ptr(), rows, columns, y.data_ptr(), stream) and sys.exit("tally failed")
        own_fold = lambda fold: lambda: axes.axes_fold(0, fold, 4, x.data_ptr(), extents, per_row.data_ptr(), stream) and sys.exit("tally failed")
        works = {
            "softmax": (own_let(0), lambda t: torch.softmax(t, 1), y),
            "layer norm": (own_let(1), lambda t: torch.nn.functional.layer_norm(t, (columns,)), y),
            "weighted": (
                lambda: let.let_weighted_rows(x.data_ptr(), w.data_ptr(), b.data_ptr(), rows, columns, y.data_ptr(), stream) and sys.exit("tally failed"),
                lambda t: torch.nn.functional.layer_norm(t, (columns,), w.to(t.dtype), b.to(t.dtype)),
                y,
            ),
            "exp": (own_let(2), torch.exp, y),
            "turned": (
                lambda: let.let_turned(x.data_ptr(), rows, columns, y.data_ptr(), stream) and sys.exit("tally failed"),
                lambda t: t.t().contiguous(),
                y,
            ),
            "logsumexp": (own_fold(2), lambda t: torch.logsumexp(t, 1), per_row),
            "variance": (own_fold(1), lambda t: torch.var(t, 1, correction=0), per_row),
        }
        for name, (tally, peer, out) in works.items():
            out.fill_(float("nan"))
            tally()
            torch.cuda.synchronize()
            some = slice(0, min(rows, 4096))
            own, right = (y.view(columns, rows), x.t()) if name == "turned" else (out[some].double(), peer(x[some].double()))
            error = ((own - right).abs() / (right.abs() + 1e-3)).max().item()
            if not error < 2e-4:
                print(f"{name} {shape}: WRONG by {error}")
            contestants = {"tally": tally, "torch": lambda: peer(x)}
            contestants["copy" if out is y else "read"] = (lambda: y.copy_(x)) if out is y else (lambda: torch.sum(x, 1))
            if a.compiled:
                compiled = torch.compile(peer, mode="max-autotune-no-cudagraphs", dynamic=False)
                contestants["inductor"] = lambda: compiled(x)
            times = {n: statistics.median(t) for n, t in measure(torch, contestants, a.trials, from_idle=True).items()}
            moved = x.numel() * 4 * (2 if out is y else 1)
            best = min(t for n, t in times.items() if n not in ("tally", "copy", "read"))
            text = "  ".join(f"{n} {t:.1f}" for n, t in times.items())
            print(f"{name:11}{shape:14} {moved / times['tally'] / 1e3:6.0f} GB/s  best peer/tally {best / times['tally']:5.2f}  {text}", flush=True)
        del x, y, per_row


main()
