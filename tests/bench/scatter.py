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


def main():
    a = parse()
    import torch

    library = ctypes.CDLL(a.library)
    pointer, whole, count_of = ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong
    library.scatter_rows.argtypes = [whole, whole, pointer, pointer, count_of, pointer, pointer, count_of, whole, whole,
                                     whole, pointer]
    library.scatter_choice.argtypes = [whole, count_of, whole, count_of, ctypes.POINTER(whole)]
    copies = torch.zeros(2 << 20, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    torch.manual_seed(20261120)
    properties = torch.cuda.get_device_properties(0)
    print("date:", datetime.datetime.now().isoformat(" ", "seconds"))
    print("command: tests/bench/scatter.py", " ".join(sys.argv[1:]))
    print(f"device: {properties.name}, torch {torch.__version__}, cuda {torch.version.cuda}")
    print(f"rows of {a.elements} elements in all, keys {a.pattern}; median microseconds of {a.trials} interleaved trials (p95)")
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


def measure(torch, contestants, table, tile, keys, trials):
    times = {name: [] for name in contestants}
    for trial in range(trials + 2):
        for name, run in contestants.items():
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
