#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Rows 12 and 13 of the bars through pipelines: sums of rows by key beside torch's index_add, their greatest beside its index_reduce, histograms beside CUB's HistogramEven and
# torch's bincount; and group_by, to answers on the host, beside torch's unique and index_add. In one process on one device, interleaved,
# each answer checked first. tests/bench/build makes the libraries. Test layer.
"""Measures by_key, histogram and group_by on a GPU beside torch and CUB."""
import argparse
import ctypes
import datetime
import statistics
import sys
from pathlib import Path

BUILT = Path(__file__).resolve().parents[2] / "build" / "bench"
BARS = {"f32": 2.0, "bf16": 5.0, "bf16 kept": 5.0}


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--libraries", default=str(BUILT))
    p.add_argument("--columns", default="1,16,64,128,1024")
    p.add_argument("--keys", default="1000,100000,1000000")
    p.add_argument("--patterns", default="uniform,zipf,one,sorted")
    p.add_argument("--types", default="f32,bf16")
    p.add_argument("--bins", default="32,256,4096,32768,2000000")
    p.add_argument("--elements", type=int, default=1 << 28)
    p.add_argument("--trials", type=int, default=20)
    p.add_argument("--shapes", default="16384x16384,262143x1023", help="of matrices")
    p.add_argument("--only", default="rows,greatest,matrices,counts,groups")
    return p.parse_args()


def measure(torch, contestants, trials):
    times = {name: [] for name in contestants}
    for trial in range(trials + 2):
        for name, run in contestants.items():
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            run()
            end.record()
            end.synchronize()
            if trial >= 2:
                times[name].append(begin.elapsed_time(end) * 1e3)
    return {name: (statistics.median(v), sorted(v)[int(0.95 * (len(v) - 1))]) for name, v in times.items()}


def keys_of(torch, pattern, rows, count, kind):
    if pattern == "one":
        return torch.full((rows,), count // 2, dtype=kind, device="cuda")
    if pattern == "sorted":
        return torch.randint(count, (rows,), device="cuda", dtype=kind).sort().values
    if pattern == "zipf":
        return ((count ** torch.rand(rows, device="cuda", dtype=torch.float64)).long().clamp_(1, count) - 1).to(kind)
    return torch.randint(count, (rows,), device="cuda", dtype=kind)


def say(text, times, own, peers):
    parts = "  ".join(f"{name} {m:.0f} ({p:.0f})" for name, (m, p) in times.items())
    ratio = min(times[name][0] for name in peers) / times[own][0]
    print(f"{text}  {parts}  {ratio:.2f}x", flush=True)
    return ratio


def measure_rows(torch, library, a, stream):
    least = {}
    for type_name in a.types.split(","):
        dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[type_name]
        pool = torch.empty(a.elements, dtype=torch.float32, device="cuda").uniform_(-0.5, 0.5).to(dtype)
        for pattern in a.patterns.split(","):
            for columns in map(int, a.columns.split(",")):
                rows = a.elements // columns
                tile = pool[: rows * columns].view(rows, columns)
                for count in map(int, a.keys.split(",")):
                    if count * columns > 1 << 28:  # more sums than elements
                        continue
                    keys = keys_of(torch, pattern, rows, count, torch.int64)
                    out = torch.empty(count, columns, dtype=torch.float32, device="cuda")
                    table = torch.zeros(count, columns, dtype=dtype, device="cuda")
                    kept = torch.zeros(count, columns, dtype=dtype, device="cuda") if type_name == "bf16" else None

                    def run(any_order, kind=0 if type_name == "f32" else 1, to=out):
                        if library.keyed_rows(kind, any_order, tile.data_ptr(), keys.data_ptr(), rows, columns, count, to.data_ptr(),
                                              stream.cuda_stream):
                            sys.exit(1)
                    right = torch.zeros(count, columns, dtype=torch.float64, device="cuda")
                    for part in range(0, rows, max(1, (1 << 26) // columns)):
                        to = min(rows, part + max(1, (1 << 26) // columns))
                        right.index_add_(0, keys[part:to], tile[part:to].double())
                    for any_order in (1, 0):
                        run(any_order)
                        torch.cuda.synchronize()
                        most = torch.bincount(keys, minlength=count).max().item()
                        room = 1e-3 * most**0.5 + 1e-3 if any_order else right.abs() * 1e-7 + 1e-6
                        wrong = int(((out.double() - right).abs() > room).sum())
                        if wrong:
                            print(f"WRONG: {wrong} of {out.numel()} sums, fast={any_order}, D={columns}, keys={count}, {pattern}", flush=True)
                    contestants = {"fast": lambda: run(1), "exact": lambda: run(0), "torch": lambda: table.index_add_(0, keys, tile)}
                    if kept is not None:  # sums that round at every step, as torch's do
                        contestants["kept"] = lambda: run(1, 2, kept)
                        contestants["kept"](), contestants["torch"]()
                        errors = [(t.double() - right).abs().max().item() for t in (kept, table)]
                        if errors[0] > 2 * errors[1] + 0.01:
                            print(f"WRONG: sums kept in bf16 are {errors[0]:.3g} off, torch's {errors[1]:.3g}", flush=True)
                    del right
                    times = measure(torch, contestants, a.trials)
                    ratio = say(f"{type_name:4} D={columns:<4} keys={count:<8}{pattern:8}", times, "fast", ["torch"])
                    least[type_name] = min(ratio, least.get(type_name, ratio))
                    if kept is not None:
                        like = times["torch"][0] / times["kept"][0]
                        least["bf16 kept"] = min(like, least.get("bf16 kept", like))
                    del keys, out, table, kept
    for type_name, ratio in least.items():
        print(f"bar 12: {type_name} fast at least {BARS[type_name]} x torch everywhere: least {ratio:.2f}, {'met' if ratio >= BARS[type_name] else 'NOT met'}")


def measure_greatest(torch, library, a, stream):
    pool = torch.empty(a.elements, dtype=torch.float32, device="cuda").uniform_(-0.5, 0.5).bfloat16()
    for pattern in a.patterns.split(","):
        for columns in map(int, a.columns.split(",")):
            rows = a.elements // columns
            tile = pool[: rows * columns].view(rows, columns)
            for count in map(int, a.keys.split(",")):
                if count * columns > 1 << 28:
                    continue
                keys = keys_of(torch, pattern, rows, count, torch.int64)
                lowest = float("-inf")
                table = torch.full((count, columns), lowest, dtype=torch.bfloat16, device="cuda")
                outs = [torch.empty_like(table), torch.empty_like(table)]

                def run(kind, out):
                    if library.keyed_rows(kind, 0, tile.data_ptr(), keys.data_ptr(), rows, columns, count, out.data_ptr(), stream.cuda_stream):
                        sys.exit(1)
                contestants = {"numbers": lambda: run(3, outs[0]), "NaN wins": lambda: run(4, outs[1]),
                               "torch": lambda: table.index_reduce_(0, keys, tile, "amax")}
                for one in contestants.values():
                    one()
                torch.cuda.synchronize()
                for name, out in zip(contestants, outs):
                    if not torch.equal(out, table):
                        print(f"WRONG: {name}, D={columns}, keys={count}, {pattern}", flush=True)
                say(f"bf16 greatest D={columns:<4} keys={count:<8}{pattern:8}", measure(torch, contestants, a.trials), "numbers", ["torch"])
                del keys, table, outs


def measure_matrices(torch, library, a, stream):
    pool = torch.empty(a.elements, dtype=torch.float32, device="cuda").uniform_(-0.5, 0.5)
    for shape in a.shapes.split(","):
        rows, columns = map(int, shape.split("x"))
        x = pool[: rows * columns].view(rows, columns)
        for by_rows in (1, 0):
            for count in map(int, a.keys.split(",")):
                keys = torch.randint(count, (rows if by_rows else columns,), device="cuda")
                out = torch.empty(count, dtype=torch.float32, device="cuda")
                table = torch.zeros(count, dtype=torch.float32, device="cuda")

                def run(any_order):
                    if library.keyed_matrix(by_rows, any_order, x.data_ptr(), keys.data_ptr(), rows, columns, count, out.data_ptr(), stream.cuda_stream):
                        sys.exit(1)
                right = torch.zeros(count, dtype=torch.float64, device="cuda").index_add_(0, keys, x.sum(1 if by_rows else 0, dtype=torch.float64))
                for any_order in (1, 0):
                    run(any_order)
                    torch.cuda.synchronize()
                    room = 1e-6 * x.numel() ** 0.5 + 1e-3 if any_order else right.abs() * 1e-7 + 1e-6
                    if wrong := int(((out.double() - right).abs() > room).sum()):
                        print(f"WRONG: {wrong} of {count} sums, fast={any_order}, {shape}, by rows={by_rows}", flush=True)
                contestants = {"fast": lambda: run(1), "exact": lambda: run(0),
                               "torch": lambda: table.index_add_(0, keys, x.sum(1 if by_rows else 0))}
                say(f"f32 {shape} by its {'rows' if by_rows else 'columns'}' keys={count:<8}", measure(torch, contestants, a.trials), "fast", ["torch"])


def measure_counts(torch, library, cub, a, stream):
    least = float("inf")
    n = a.elements
    for what, name in ((0, "u32"), (1, "f32 even")):
        for pattern in a.patterns.split(","):
            if what == 1 and pattern != "uniform":
                continue
            for bins in map(int, a.bins.split(",")):
                x = keys_of(torch, pattern, n, bins, torch.int32) if what == 0 else torch.rand(n, device="cuda")
                own = torch.empty(bins, dtype=torch.int64, device="cuda")
                theirs = torch.empty(bins, dtype=torch.int32, device="cuda")
                room_bytes = ctypes.c_ulonglong(0)
                cub.cub_counts(what, x.data_ptr(), n, bins, theirs.data_ptr(), None, ctypes.byref(room_bytes), stream.cuda_stream)
                room = torch.empty(max(1, room_bytes.value), dtype=torch.uint8, device="cuda")

                def run():
                    if library.keyed_counts(what, x.data_ptr(), None, n, bins, own.data_ptr(), stream.cuda_stream):
                        sys.exit(1)

                def run_cub():
                    if cub.cub_counts(what, x.data_ptr(), n, bins, theirs.data_ptr(), room.data_ptr(), ctypes.byref(room_bytes), stream.cuda_stream):
                        sys.exit("cub_counts failed")
                run()
                run_cub()
                torch.cuda.synchronize()
                if what == 0 and not bool((own == theirs.long()).all()):
                    print(f"WRONG: counts of {bins} bins, {pattern}", flush=True)
                if int(own.sum()) != n:
                    print(f"WRONG: {int(own.sum())} of {n} counted, {bins} bins", flush=True)
                contestants = {"tally": run, "cub": run_cub}
                times = measure(torch, contestants, a.trials)
                least = min(least, say(f"{name:9} bins={bins:<8}{pattern:8}", times, "tally", ["cub"]))
                del x, own, theirs, room
    print(f"bar 13: at least 2 x CUB everywhere: least {least:.2f}, {'met' if least >= 2 else 'NOT met'}")
    for bins in map(int, a.bins.split(",")):
        x = keys_of(torch, "uniform", n, bins, torch.int32)
        w = torch.rand(n, device="cuda")
        out = torch.empty(bins, dtype=torch.float32, device="cuda")
        table = torch.zeros(bins, dtype=torch.float32, device="cuda")
        wide = x.long()

        def weigh(what):
            if library.keyed_counts(what, x.data_ptr(), w.data_ptr(), n, bins, out.data_ptr(), stream.cuda_stream):
                sys.exit(1)
        contestants = {"fast": lambda: weigh(2), "exact": lambda: weigh(3), "torch": lambda: table.index_add_(0, wide, w)}
        say(f"weighted  bins={bins:<8}", measure(torch, contestants, a.trials), "fast", ["torch"])
        del x, w, out, table, wide


class GroupsMet(ctypes.Structure):
    _fields_ = [("count", ctypes.c_longlong), ("keys", ctypes.c_void_p), ("sums", ctypes.c_void_p), ("counts", ctypes.c_void_p)]


def measure_groups(torch, library, a, stream):
    n = a.elements
    x = torch.rand(n, device="cuda")
    for kind, bytes_of_key, plain in ((torch.int32, 4, ctypes.c_int32), (torch.int64, 8, ctypes.c_int64)):
        for pattern in a.patterns.split(","):
            for count in map(int, a.keys.split(",")):
                keys = keys_of(torch, pattern, n, count, kind) * 7919 - 12345  # they lie apart, and stay distinct when they wrap
                met = GroupsMet()

                def run(any_order):
                    if library.keyed_groups(bytes_of_key, any_order, keys.data_ptr(), x.data_ptr(), n, ctypes.byref(met), stream.cuda_stream):
                        sys.exit(1)

                def run_torch():
                    found, number = torch.unique(keys, return_inverse=True)
                    return found.cpu(), torch.zeros(found.numel(), device="cuda").index_add_(0, number, x).cpu()
                right, times_met = (t.cpu() for t in torch.unique(keys, return_counts=True))
                for any_order in (1, 0):
                    run(any_order)
                    found = torch.frombuffer((plain * met.count).from_address(met.keys), dtype=kind)
                    counts = torch.frombuffer((ctypes.c_int64 * met.count).from_address(met.counts), dtype=torch.int64)
                    if not torch.equal(found, right) or not torch.equal(counts, times_met):
                        print(f"WRONG: {met.count} of {right.numel()} keys, fast={any_order}, {kind}, {pattern}", flush=True)
                contestants = {"fast": lambda: run(1), "exact": lambda: run(0), "torch": run_torch}
                say(f"groups    {bytes_of_key} B  keys={count:<8}{pattern:8}", measure(torch, contestants, a.trials), "fast", ["torch"])
                del keys


def main():
    import torch
    a = parse()
    pointer, number = ctypes.c_void_p, ctypes.c_longlong
    library = ctypes.CDLL(str(Path(a.libraries) / "libkeyed.so"))
    library.keyed_rows.argtypes = [ctypes.c_int, ctypes.c_int, pointer, pointer, number, number, number, pointer, pointer]
    library.keyed_matrix.argtypes = [ctypes.c_int, ctypes.c_int, pointer, pointer, number, number, number, pointer, pointer]
    library.keyed_counts.argtypes = [ctypes.c_int, pointer, pointer, number, number, pointer, pointer]
    library.keyed_groups.argtypes = [ctypes.c_int, ctypes.c_int, pointer, pointer, number, ctypes.POINTER(GroupsMet), pointer]
    cub = ctypes.CDLL(str(Path(a.libraries) / "libkeyed_cub.so"))
    cub.cub_counts.argtypes = [ctypes.c_int, pointer, number, ctypes.c_int, pointer, pointer, ctypes.POINTER(ctypes.c_ulonglong), pointer]
    torch.manual_seed(20261120)
    torch.cuda.init()
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    properties = torch.cuda.get_device_properties(0)
    print("date:", datetime.datetime.now().isoformat(" ", "seconds"))
    print("command: tests/bench/keyed.py", " ".join(sys.argv[1:]))
    print(f"device: {properties.name}, torch {torch.__version__}, cuda {torch.version.cuda}")
    print(f"{a.elements} elements in all; median microseconds of {a.trials} interleaved trials (p95), and how many times as fast as the peer")
    if "rows" in a.only:
        measure_rows(torch, library, a, stream)
    if "greatest" in a.only:
        measure_greatest(torch, library, a, stream)
    if "matrices" in a.only:
        measure_matrices(torch, library, a, stream)
    if "counts" in a.only:
        measure_counts(torch, library, cub, a, stream)
    if "groups" in a.only:
        measure_groups(torch, library, a, stream)


main()
