#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A matrix beside operands that are the same for all its rows or columns: tally beside torch (whose products are cuBLAS's) and torch.compile, in one
# process on one device, interleaved, each answer checked against f64 first. The target `operands` of the build makes its library. Test layer.
"""Measures products with vectors, and squares about them."""
import ctypes
import statistics
import sys

from turns import measure, options_of_matrices, say_what_runs

CEILING = 4.65e12
WHAT = ("rows times x", "columns times w", "both", "sum of w a x", "squares of columns", "squares of rows")


def parse():
    p = options_of_matrices(__doc__, "liboperands.so", "16384x16384,262144x1024,1024x262144,16383x16383,4096x4096")
    p.add_argument("--what", default="0,1,2,3,4,5")
    return p.parse_args()


def main():
    a = parse()
    import torch

    torch.cuda.set_stream(torch.cuda.Stream())
    torch.manual_seed(20261126)
    own = ctypes.CDLL(a.library)
    pointer, number = ctypes.c_void_p, ctypes.c_longlong
    own.operands_fold.argtypes = [ctypes.c_int] * 2 + [pointer] * 3 + [number] * 2 + [pointer] * 3
    stream = torch.cuda.current_stream().cuda_stream
    say_what_runs(torch, a.trials)
    f32, f64 = torch.float32, torch.float64
    for kind, type_name in enumerate(("f32", "bf16")):
        if type_name not in a.types.split(","):
            continue
        dtype = (f32, torch.bfloat16)[kind]
        for shape in a.shapes.split(","):
            rows, columns = map(int, shape.split("x"))
            m = torch.empty(rows, columns, device="cuda").uniform_(-0.5, 1).to(dtype)
            x = torch.empty(columns, device="cuda").uniform_(-0.5, 1).to(dtype)
            w = torch.empty(rows, device="cuda").uniform_(-0.5, 1).to(dtype)
            first, second = (torch.full((max(rows, columns),), float("nan"), device="cuda") for _ in range(2))
            plain = (
                lambda: (torch.mv(m, x),),
                lambda: (torch.mv(m.t(), w),),
                lambda: (torch.mv(m, x), torch.mv(m.t(), w)),
                lambda: (torch.dot(w, torch.mv(m, x)),),
                lambda: ((m - x).square().sum(0, dtype=f32),),
                lambda: ((m - w[:, None]).square().sum(1, dtype=f32),),
            )
            in_f64 = (
                lambda m, x, w: (m @ x,),
                lambda m, x, w: (m.t() @ w,),
                lambda m, x, w: (m @ x, m.t() @ w),
                lambda m, x, w: ((w @ (m @ x)).reshape(1),),
                lambda m, x, w: ((m - x).square_().sum(0),),
                lambda m, x, w: ((m - w[:, None]).square_().sum(1),),
            )
            folded = (
                lambda m, x, w: ((m * x).sum(1, dtype=f32),),
                lambda m, x, w: ((m * w[:, None]).sum(0, dtype=f32),),
                lambda m, x, w: ((m * x).sum(1, dtype=f32), (m * w[:, None]).sum(0, dtype=f32)),
                lambda m, x, w: ((m * x * w[:, None]).sum(dtype=f32),),
                lambda m, x, w: ((m - x).square().sum(0, dtype=f32),),
                lambda m, x, w: ((m - w[:, None]).square().sum(1, dtype=f32),),
            )
            for what in map(int, a.what.split(",")):

                def tally():
                    if own.operands_fold(kind, what, m.data_ptr(), x.data_ptr(), w.data_ptr(), rows, columns, first.data_ptr(), second.data_ptr(), stream):
                        sys.exit("tally failed")

                tally()
                torch.cuda.synchronize()
                for out, exact in zip((first, second), in_f64[what](m.to(f64), x.to(f64), w.to(f64))):
                    got = out[: exact.numel()].to(f64)
                    if not ((got - exact).abs() <= 1e-5 * exact.abs() + 1e-6 * (rows * columns / exact.numel()) ** 0.5 + 1e-2 * (what == 3)).all():
                        print(f"{type_name} {shape} {WHAT[what]}: WRONG by {(got - exact).abs().max().item()}")
                contestants = {"tally": tally, "torch": plain[what]}
                if a.compiled:
                    compiled = torch.compile(folded[what], mode="max-autotune-no-cudagraphs", dynamic=False)
                    contestants["inductor"] = lambda: compiled(m, x, w)
                times = {name: statistics.median(t) for name, t in measure(torch, contestants, a.trials, calls=4).items()}
                rate = m.numel() * m.element_size() / times["tally"] / 1e-6
                best = min(t for name, t in times.items() if name != "tally")
                text = "  ".join(f"{name} {t:.1f}" for name, t in times.items())
                print(f"{type_name:5}{shape:14}{WHAT[what]:20} {rate / 1e9:6.0f} GB/s {100 * rate / CEILING:4.0f} %  best peer/tally {best / times['tally']:5.2f}  {text}",
                      flush=True)
            del m


main()
