#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Rows added to the rows of a table that their keys name: the ladder of primitive/accumulate.cuh beside torch's index_add, in
# one process on one device, interleaved, each answer checked against f64 first. tests/bench/build makes its library. Test
# layer.
"""Measures scattered additions of rows: tally's ladder beside torch index_add."""
import argparse
import ctypes
import datetime
import statistics
import sys
from pathlib import Path

BUILT = Path(__file__).resolve().parents[2] / "build" / "bench"
TYPES = {"f32": 0, "bf16": 1, "f64": 2, "f16": 3}
RUNGS = {"ladder": -1, "bulk": 0, "vector": 1, "scalar": 2}
EXACT = {"ladder": -1, "red": 0, "bulk": 1, "gathered": 2}
BARS = {"f32": 2.0, "bf16": 5.0}  # times torch index_add


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--library", default=str(BUILT / "libscatter.so"))
    p.add_argument("--types", default="f32,bf16")
    p.add_argument("--columns", default="16,32,64,128,256,512")
    p.add_argument("--keys", default="1000,10000,100000,1000000")
    p.add_argument("--rungs", default="ladder", help="comma list of " + ", ".join(RUNGS))
    p.add_argument("--elements", type=int, default=1 << 28, help="of the tile")
    p.add_argument("--trials", type=int, default=20)
    p.add_argument("--blocks", default="0", help="comma list; 0: the planner's")
    p.add_argument("--room", default="0", help="comma list of bytes of shared memory a warp, bulk only; 0: 4096")
    p.add_argument("--pattern", default="uniform", choices=["uniform", "one", "zipf"])
    p.add_argument("--without-torch", action="store_true")
    p.add_argument("--exact", default="", help="comma list of " + ", ".join(EXACT) + ": exact sums beside torch's deterministic mode")
    p.add_argument("--exact-library", default=str(BUILT / "libscatter_exact.so"))
    return p.parse_args()


def keys_of(torch, pattern, rows, count):
    if pattern == "one":
        return torch.zeros(rows, dtype=torch.int64, device="cuda")
    if pattern == "zipf":
        return (count ** torch.rand(rows, device="cuda", dtype=torch.float64)).long().clamp_(1, count) - 1
    return torch.randint(count, (rows,), device="cuda")


def check(torch, run, tile, keys, count, columns, name):
    """A few rows against f64; the room is that of a sum in the type itself, in any order."""
    few = min(tile.shape[0], 1 << 16)
    table = torch.zeros(count, columns, dtype=tile.dtype, device="cuda")
    exact = torch.zeros(count, columns, dtype=torch.float64, device="cuda")
    size = torch.zeros_like(exact)
    exact.index_add_(0, keys[:few], tile[:few].double())
    size.index_add_(0, keys[:few], tile[:few].double().abs())
    per_key = torch.bincount(keys[:few], minlength=count).max().item()
    run(table, tile[:few], keys[:few])
    torch.cuda.synchronize()
    room = size * torch.finfo(tile.dtype).eps * max(4, per_key) + 1e-6
    wrong = ((table.double() - exact).abs() > room).sum().item()
    if wrong:
        sys.exit(f"{name}: {wrong} of {table.numel()} elements are wrong")


def introduce(torch, a):
    """A stream of its own, and what was run when on what."""
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    torch.manual_seed(20261120)
    properties = torch.cuda.get_device_properties(0)
    print("date:", datetime.datetime.now().isoformat(" ", "seconds"))
    print("command: tests/bench/scatter.py", " ".join(sys.argv[1:]))
    print(f"device: {properties.name}, torch {torch.__version__}, cuda {torch.version.cuda}")
    print(f"rows of {a.elements} elements in all, keys {a.pattern}; median microseconds of {a.trials} interleaved trials (p95)")
    return stream


class exact_rows:
    """Exact sums of rows: the rooms they need, and the call."""

    def __init__(self, torch, library, type_name, table, keys, tile, bound):
        self.torch, self.bound, self.type = torch, bound, TYPES[type_name]
        pointer, number = ctypes.c_void_p, ctypes.c_longlong
        self.library = ctypes.CDLL(library)
        self.library.scatter_exact.argtypes = [ctypes.c_int, ctypes.c_int, pointer, pointer, pointer, pointer, pointer, number,
                                               pointer, pointer, number, ctypes.c_int, ctypes.c_double, ctypes.c_int, pointer]
        self.library.scatter_exact_choice.argtypes = [ctypes.c_int, number, ctypes.c_int, number, ctypes.POINTER(number)]
        room = ctypes.c_longlong()
        rows, columns = tile.shape
        self.chosen = self.library.scatter_exact_choice(tile.element_size(), rows, columns, table.shape[0], ctypes.byref(room))
        make = lambda n, kind: torch.zeros(n, dtype=kind, device="cuda")
        self.lanes = make(table.shape[0] * (columns + columns % 2), torch.int64)
        self.counts, self.filed = make(table.shape[0], torch.int32), make(room.value, torch.int32)
        self.marks = make(1, torch.int32)

    def run(self, how, table, tile, keys, steps=3):
        error = self.library.scatter_exact(self.type, how, table.data_ptr(), self.lanes.data_ptr(), self.counts.data_ptr(),
                                           self.filed.data_ptr(), self.marks.data_ptr(), table.shape[0], tile.data_ptr(),
                                           keys.data_ptr(), tile.shape[0], tile.shape[1], self.bound, steps,
                                           self.torch.cuda.current_stream().cuda_stream)
        if error:
            sys.exit(f"scatter_exact: cudaError {error}")


def compare_exact(torch, a):
    """Exact sums of rows beside torch's deterministic index_add, both into a table of the elements' type."""
    introduce(torch, a)
    dtypes = {"f32": torch.float32, "bf16": torch.bfloat16, "f64": torch.float64, "f16": torch.float16}
    least = float("inf")
    for type_name in a.types.split(","):
        pool = torch.empty(a.elements, dtype=torch.float32, device="cuda").uniform_(-0.5, 0.5).to(dtypes[type_name])
        if type_name == "bf16":  # so small a number as to be no multiple of the unit is refused
            pool = pool.float().mul_(256).round_().div_(256).bfloat16()
        for columns in map(int, a.columns.split(",")):
            rows = a.elements // columns
            tile = pool[: rows * columns].view(rows, columns)
            for count in map(int, a.keys.split(",")):
                keys = keys_of(torch, a.pattern, rows, count)
                table = torch.zeros(count, columns, dtype=tile.dtype, device="cuda")
                exact = exact_rows(torch, a.exact_library, type_name, table, keys, tile, 0.5)
                contestants = {}
                for rung in a.exact.split(","):
                    contestants["tally " + rung] = lambda t, x, k, how=EXACT[rung], steps=3: exact.run(how, t, x, k, steps)
                torch.use_deterministic_algorithms(True)
                if not a.without_torch:
                    contestants["torch"] = lambda t, x, k: t.index_add_(0, k, x)
                check_exact(torch, exact, contestants, tile, keys, count, columns)
                times = measure(torch, contestants, table, tile, keys, a.trials, reset=True)
                torch.use_deterministic_algorithms(False)
                medians = {name: statistics.median(values) for name, values in times.items()}
                text = f"{type_name:5} D={columns:<4} keys={count:<8} {list(EXACT)[1 + exact.chosen]:9} "
                text += "  ".join(f"{name} {medians[name]:.0f} ({sorted(v)[int(0.95 * (len(v) - 1))]:.0f})" for name, v in times.items())
                if "torch" in medians:
                    own = medians.get("tally ladder", min(v for name, v in medians.items() if name != "torch"))
                    least = min(least, medians["torch"] / own)
                    text += f"  torch/tally {medians['torch'] / own:.2f}"
                print(text, flush=True)
                del table, keys, exact, contestants
    print(f"bar: exact at least as fast as torch deterministic everywhere: least {least:.2f}, {'met' if least >= 1 else 'NOT met'}")


def check_exact(torch, exact, contestants, tile, keys, count, columns):
    """Every rung leaves the sums in f64 of a part of the tile, rounded: elements are few bits, so f64 is exact here."""
    few = min(tile.shape[0], 1 << 16)
    sums = torch.zeros(count, columns, dtype=torch.float64, device="cuda").index_add_(0, keys[:few], tile[:few].double())
    for name, run in contestants.items():
        if name == "torch":
            continue
        for order in (slice(None), torch.randperm(few, device="cuda")):
            table = torch.zeros(count, columns, dtype=tile.dtype, device="cuda")
            run(table, tile[:few][order].contiguous(), keys[:few][order].contiguous())
            torch.cuda.synchronize()
            wrong = (table != sums.to(tile.dtype)).sum().item()
            if wrong or exact.marks.item() or exact.lanes.any().item() or exact.counts.any().item():
                sys.exit(f"{name} {tile.dtype} {columns} {count}: {wrong} wrong, marks {exact.marks.item()}")


def main():
    a = parse()
    import torch

    if a.exact:
        return compare_exact(torch, a)
    library = ctypes.CDLL(a.library)
    pointer, whole, count_of = ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong
    library.scatter_rows.argtypes = [whole, whole, pointer, pointer, count_of, pointer, pointer, count_of, whole, whole,
                                     whole, pointer]
    library.scatter_choice.argtypes = [whole, count_of, whole, count_of, ctypes.POINTER(whole)]
    copies = torch.zeros(2 << 20, dtype=torch.uint8, device="cuda")
    stream = introduce(torch, a)
    dtypes = {"f32": torch.float32, "bf16": torch.bfloat16, "f64": torch.float64, "f16": torch.float16}
    worst = {}
    for type_name in a.types.split(","):
        pool = torch.empty(a.elements, dtype=dtypes[type_name], device="cuda").uniform_(-0.5, 0.5)
        for columns in map(int, a.columns.split(",")):
            rows = a.elements // columns
            tile = pool[: rows * columns].view(rows, columns)
            for count in map(int, a.keys.split(",")):
                keys = keys_of(torch, a.pattern, rows, count)
                table = torch.zeros(count, columns, dtype=tile.dtype, device="cuda")
                contestants = {}
                for rung in a.rungs.split(","):
                    for blocks in map(int, a.blocks.split(",")):
                        for room in map(int, a.room.split(",")):
                            def run(table, tile, keys, how=RUNGS[rung], blocks=blocks, room=room):
                                error = library.scatter_rows(TYPES[type_name], how, table.data_ptr(), copies.data_ptr(),
                                                             table.shape[0], tile.data_ptr(), keys.data_ptr(),
                                                             tile.shape[0], tile.shape[1], blocks, room,
                                                             stream.cuda_stream)
                                if error:
                                    sys.exit(f"scatter_rows: cudaError {error}")
                            more = "".join(f" {word}{number}" for word, number in (("b", blocks), ("r", room)) if number)
                            contestants["tally " + rung + more] = run
                if not a.without_torch:
                    contestants["torch"] = lambda table, tile, keys: table.index_add_(0, keys, tile)
                for name, run in contestants.items():
                    check(torch, run, tile, keys, count, columns, f"{name} {type_name} {columns} {count}")
                times = measure(torch, contestants, table, tile, keys, a.trials)
                number = ctypes.c_int()
                rung = list(RUNGS)[1 + library.scatter_choice(TYPES[type_name], rows, columns, count, ctypes.byref(number))]
                chosen = rung + (f" x{number.value}" if number.value > 1 else "")
                report(type_name, columns, count, chosen, times, worst, rows * columns * tile.element_size())
                del table, keys
    for type_name, ratio in worst.items():
        if type_name in BARS:
            verdict = "met" if ratio >= BARS[type_name] else "NOT met"
            print(f"bar: {type_name} ladder at least {BARS[type_name]} x torch everywhere: least {ratio:.2f}, {verdict}")


def measure(torch, contestants, table, tile, keys, trials, reset=False):
    times = {name: [] for name in contestants}
    for trial in range(trials + 2):
        for name, run in contestants.items():
            if reset:  # exact sums must stay within the bound that the table's own numbers share
                table.zero_()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            run(table, tile, keys)
            end.record()
            end.synchronize()
            if trial >= 2:
                times[name].append(begin.elapsed_time(end) * 1e3)
    return times


def report(type_name, columns, count, chosen, times, worst, bytes_read):
    medians = {name: statistics.median(values) for name, values in times.items()}
    parts = []
    for name, values in times.items():
        p95 = sorted(values)[int(0.95 * (len(values) - 1))]
        parts.append(f"{name} {medians[name]:.0f} ({p95:.0f})")
    text = f"{type_name:5} D={columns:<4} keys={count:<8} {chosen:10} " + "  ".join(parts)
    first = next(iter(medians))
    text += f"  {bytes_read / medians[first] / 1e3:.0f} GB/s of rows"
    if "torch" in medians and "tally ladder" in medians:
        ratio = medians["torch"] / medians["tally ladder"]
        worst[type_name] = min(ratio, worst.get(type_name, ratio))
        text += f"  torch/ladder {ratio:.2f}"
    print(text, flush=True)


main()
