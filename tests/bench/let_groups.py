#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Softmax of segments of uneven length, and what is left when the mean of a segment or of a key is taken off: tally beside the calls of torch that make the
# same, in one process on one device, interleaved, each answer checked against f64 first. tests/bench/build makes its library. Test layer.
"""Measures elements beside answers of their segment or key."""
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
    p.add_argument("--elements", type=int, default=1 << 28)
    p.add_argument("--lengths", default="16,256,4096,65536", help="of segments, on average")
    p.add_argument("--bins", default="1000,100000")
    p.add_argument("--trials", type=int, default=9)
    return p.parse_args()


def segments_of(torch, n, length):
    """Offsets of segments of 0 to 2 * length elements."""
    sizes = torch.randint(0, 2 * length + 1, (n // length + n // (4 * length) + 64,), device="cuda")
    ends = sizes.cumsum(0)
    inner = ends[ends < n]
    edge = lambda value: torch.tensor([value], device="cuda")
    return torch.cat([edge(0), inner, edge(n)])


def main():
    a = parse()
    import torch

    torch.cuda.set_stream(torch.cuda.Stream())
    torch.manual_seed(20261126)
    pointer, number = ctypes.c_void_p, ctypes.c_longlong
    own = ctypes.CDLL(str(BUILT / "liblet_groups.so"))
    own.let_segments.argtypes = [ctypes.c_int, pointer, number, pointer, number, pointer, pointer]
    own.let_keys.argtypes = [pointer, pointer, number, number, pointer, pointer]
    stream = torch.cuda.current_stream().cuda_stream
    print("date:", datetime.datetime.now().isoformat(" ", "seconds"))
    print("command: tests/bench/let_groups.py", " ".join(sys.argv[1:]))
    print(f"device: {torch.cuda.get_device_properties(0).name}, torch {torch.__version__}; median microseconds of {a.trials} interleaved trials of one call")
    n = a.elements
    x = torch.empty(n, device="cuda").uniform_(-4, 4)
    out = torch.empty_like(x)

    def compare(name, tally, peer, right):
        out.fill_(float("nan"))
        if tally():
            sys.exit("tally failed")
        torch.cuda.synchronize()
        error = (out[: right.numel()].double() - right).abs().max().item()
        if not error < 2e-4:
            print(f"{name}: WRONG by {error}")
        contestants = {"tally": tally, "torch": peer, "copy": lambda: out.copy_(x)}
        times = {k: statistics.median(t) for k, t in measure(torch, contestants, a.trials, from_idle=True).items()}
        text = "  ".join(f"{k} {t:.0f}" for k, t in times.items())
        print(f"{name:34} torch/tally {times['torch'] / times['tally']:5.2f}  {text}", flush=True)

    for length in map(int, a.lengths.split(",")):
        offsets = segments_of(torch, n, length)
        narrow, sizes, count = offsets.to(torch.int32), offsets[1:] - offsets[:-1], offsets.numel() - 1
        some = int(offsets[min(count, (1 << 20) // length + 1)])
        first = offsets[: min(count, (1 << 20) // length + 1) + 1]
        spread = lambda answers, sizes, total: torch.repeat_interleave(answers, sizes, output_size=total)

        def softmax(t, offsets, sizes):
            e = torch.exp(t - spread(torch.segment_reduce(t, "max", offsets=offsets), sizes, t.numel()))
            return e / spread(torch.segment_reduce(e, "sum", offsets=offsets), sizes, t.numel())

        def centred(t, offsets, sizes):
            return t - spread(torch.segment_reduce(t, "mean", offsets=offsets), sizes, t.numel())

        for what, (name, peer) in enumerate((("softmax", softmax), ("minus the mean", centred))):
            compare(
                f"segments of {length}: {name}",
                lambda: own.let_segments(what, x.data_ptr(), n, narrow.data_ptr(), count, out.data_ptr(), stream),
                lambda: peer(x, offsets, sizes),
                peer(x[:some].double(), first, first[1:] - first[:-1]),
            )
    for bins in map(int, a.bins.split(",")):
        keys = torch.randint(0, bins, (n,), device="cuda", dtype=torch.int32)
        wide = keys.long()

        def centred_by_key(t, keys):
            sums = torch.zeros(bins, device="cuda", dtype=t.dtype).index_add_(0, keys, t)
            return t - (sums / torch.bincount(keys, minlength=bins))[keys]

        compare(
            f"{bins} keys: minus the mean",
            lambda: own.let_keys(x.data_ptr(), keys.data_ptr(), n, bins, out.data_ptr(), stream),
            lambda: centred_by_key(x, wide),
            centred_by_key(x.double(), wide),
        )


main()
