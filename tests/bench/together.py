#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Keys, histograms and segments with other folds: tally in one run, tally in a run for each, and torch, in one process on one device, interleaved,
# counts and totals checked first. Answers come to the host. The target `together` of the build makes its library. Test layer.
"""Measures what one read of several domains is worth."""
import argparse
import ctypes
import datetime
import statistics
import sys
from pathlib import Path

from turns import measure


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--library", default=str(Path(__file__).resolve().parents[2] / "build" / "bench" / "libtogether.so"))
    p.add_argument("--trials", type=int, default=20)
    p.add_argument("--only", default="", help="workloads whose name has this in it")
    return p.parse_args()


def main():
    a = parse()
    import torch

    torch.manual_seed(20261125)
    own = ctypes.CDLL(a.library)
    pointer, number, flag = ctypes.c_void_p, ctypes.c_longlong, ctypes.c_int
    own.image_together.argtypes = [flag, pointer, number, number, number, pointer]
    own.rows_together.argtypes = own.image_together.argtypes
    own.segments_together.argtypes = [flag, pointer, number, pointer, number, pointer, number, flag, pointer]
    own.table_together.argtypes = [flag, pointer, pointer, number, number, flag, pointer]
    print("date:", datetime.datetime.now().isoformat(" ", "seconds"))
    print("command: tests/bench/together.py", " ".join(w for w in sys.argv[1:] if "/" not in w))
    print(f"device: {torch.cuda.get_device_properties(0).name}, torch {torch.__version__}; median microseconds of {a.trials} interleaved trials")

    def compare(what, bins, call, counts, total, peer):
        if a.only not in what:
            return
        out = torch.zeros(bins + 1, dtype=torch.float64)

        def tally(apart):
            if call(apart, out.data_ptr()):
                sys.exit("tally failed")

        for apart in (0, 1):
            out.fill_(-1)
            tally(apart)
            if not torch.equal(out[:bins], counts.double().cpu()) or (total is not None and abs(out[bins] - total) > 1e-4 * abs(total)):
                sys.exit(f"{what}: WRONG")
        contestants = {"together": lambda: tally(0), "apart": lambda: tally(1), "torch": peer}
        times = {name: statistics.median(t) for name, t in measure(torch, contestants, a.trials, from_idle=True).items()}
        text = "  ".join(f"{name} {t:.1f}" for name, t in times.items())
        print(f"{what:44} apart/together {times['apart'] / times['together']:5.2f}  torch/together {times['torch'] / times['together']:6.2f}  {text}", flush=True)

    for rows, columns in ((65536, 4096), (4096, 4096)):
        x = torch.rand(rows, columns, device="cuda")
        for bins in (64, 1024):
            counts = torch.histc(x.double(), bins, 0, 1)

            def peer():
                return [t.cpu() for t in (x.sum(0), x.sum(1), x.sum(), torch.histc(x, bins, 0, 1))]

            def peer_of_rows():
                return [t.cpu() for t in (x.mean(1), torch.histc(x, bins, 0, 1))]

            compare(f"image {rows} x {columns}, {bins} bins", bins, lambda apart, out: own.image_together(apart, x.data_ptr(), rows, columns, bins, out),
                    counts, x.sum(dtype=torch.float64).item(), peer)
            compare(f"rows of {rows} x {columns}, {bins} bins", bins, lambda apart, out: own.rows_together(apart, x.data_ptr(), rows, columns, bins, out),
                    counts, None, peer_of_rows)
        compare(f"rows of {rows} x {columns} and whole", 0, lambda apart, out: own.rows_together(apart, x.data_ptr(), rows, columns, 0, out),
                counts[:0], x.sum(dtype=torch.float64).item(), lambda: [t.cpu() for t in (x.mean(1), x.sum())])
        del x
    for n in (1 << 28, 1 << 24):
        x = torch.rand(n, device="cuda")
        for bins in (16, 1000):
            keys = torch.randint(0, bins, (n,), device="cuda", dtype=torch.int32)
            for sums in (0, 1):

                def peer():
                    counted = torch.bincount(keys, minlength=bins)
                    made = torch.bincount(keys, weights=x, minlength=bins) if sums else counted
                    return [t.cpu() for t in (x.sum(), counted, made, torch.histc(x, 64, 0, 1))]

                compare(f"2^{n.bit_length() - 1} by {bins} keys, {'counts and sums' if sums else 'counts'}", bins,
                        lambda apart, out: own.table_together(apart, x.data_ptr(), keys.data_ptr(), n, bins, sums, out), torch.bincount(keys, minlength=bins),
                        x.sum(dtype=torch.float64).item(), peer)
            del keys
        del x
        # whole numbers, so that the sums of a segment are the same in any order
        x = torch.randint(0, 16, (n,), device="cuda").float()

        def offsets_of(lengths):
            ends = lengths.cumsum(0)
            return torch.cat([torch.zeros(1, dtype=torch.int64, device="cuda"), ends[ends < n], torch.full((1,), n, device="cuda")]).int()

        def mixed(longest):
            drawn = torch.rand(4 * n * 12 // longest + 100, device="cuda", dtype=torch.float64)
            return (drawn * torch.log(torch.tensor(float(longest)))).exp().long() + 1

        others = offsets_of(mixed(30000))
        for what, lengths in (("segments of 16384", torch.full((n // 16384,), 16384, device="cuda")), ("segments of 1 to 100000", mixed(100000))):
            offsets = offsets_of(lengths)
            segments = offsets.numel() - 1
            there = offsets.diff().long()
            sums = torch.segment_reduce(x.double(), "sum", lengths=there)
            total = x.sum(dtype=torch.float64).item()

            def apart_in_torch(counts):
                return [t.cpu() for t in (x.sum(), torch.segment_reduce(x, "sum", lengths=there), *([torch.histc(x, 64, 0, 16)] if counts else []))]

            def call(apart, out, others=None, counts=0):
                return own.segments_together(apart, x.data_ptr(), n, offsets.data_ptr(), segments, others.data_ptr() if others is not None else None,
                                             others.numel() - 1 if others is not None else 0, counts, out)

            name = f"2^{n.bit_length() - 1}, {what}"
            compare(f"{name} and whole", segments, call, sums, total, lambda: apart_in_torch(0))
            compare(f"{name}, whole and 64 bins", segments, lambda apart, out: call(apart, out, None, 1), sums, total, lambda: apart_in_torch(1))
            compare(f"{name} and others", segments, lambda apart, out: call(apart, out, others), sums, 0,
                    lambda: [t.cpu() for t in (torch.segment_reduce(x, "sum", lengths=there), torch.segment_reduce(x, "max", lengths=others.diff().long()))])
        del x


main()
