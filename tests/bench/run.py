#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The bench of full reductions: tally and every peer in one process, on one device, interleaved. Each answer is checked
# against an f64 or exact reference before anything is timed; only launches are timed, answers stay on the device; table, JSON
# and picture come out. docs/howto/measure.md shows the commands. Test layer.
"""Measures full reductions: tally beside CUB, Thrust and torch."""
import argparse
import json
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import contestants as who
import report
import workloads
from inputs import Inputs, OnDevice, OnHost, needed_bytes

BUILT = Path(__file__).resolve().parents[2] / "build" / "bench"
ROTATE = 384 << 20  # bytes; an H200 has 60 MB of L2, the rule is more than 256 MB
LAYOUTS = {"even": (0, 0), "odd": (-1, 0), "off by one": (0, 1)}  # elements taken off n, elements the base is moved


@dataclass
class Row:
    """One line of the table."""

    work: workloads.Workload
    type: str
    log2: int
    layout: str
    compile: bool

    def __post_init__(self):
        less, self.offset = LAYOUTS[self.layout]
        self.n = (1 << self.log2) + less
        self.offset_bytes = self.offset * workloads.BYTES[self.type]
        self.name = f"{self.work.name} {self.type}"
        self.bytes = self.n * self.work.columns * workloads.BYTES[self.type]

    def __str__(self):
        return f"{self.name} 2^{self.log2}" + ("" if self.layout == "even" else f" {self.layout}")


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--out", default=str(BUILT / "out"), help="folder for table.txt, results.json, picture.svg")
    p.add_argument("--libs", default=str(BUILT), help="folder with the contestants that tests/bench/build made")
    p.add_argument("--quick", action="store_true", help="few sizes and workloads: the bars of the issue, about a minute")
    p.add_argument("--workloads", help="comma list of names or name:type, e.g. sum:f32,dot (default: all)")
    p.add_argument("--sizes", help="log2 sizes: 10..30, or a comma list 16,20,28")
    p.add_argument("--layouts", default="even,odd,off by one", help="comma list of " + ", ".join(LAYOUTS))
    p.add_argument("--compile-sizes", default=None, help="log2 sizes that torch.compile is asked for (default 28,30; quick: 28, only where a bar names Inductor)")
    p.add_argument("--without", default="", help="comma list of groups or contestants to leave out, e.g. inductor,torch")
    p.add_argument("--trials", type=int, default=None, help="interleaved trials (default 25, quick 20)")
    p.add_argument("--burst-us", type=float, default=None, help="time that one burst should take (default 1500)")
    p.add_argument("--budget-seconds", type=float, default=540.0, help="no row starts after this")
    p.add_argument("--seed", type=int, default=20261120)
    p.add_argument("--self-test", action="store_true", help="host memory and plain loops: checks this program, measures nothing")
    a = p.parse_args(argv)
    if a.self_test:
        a.trials, a.burst_us = a.trials or 3, a.burst_us or 200.0
    a.trials = a.trials or (20 if a.quick else 25)
    a.burst_us = a.burst_us or 1500.0
    return a


def sizes_of(text):
    out = []
    for part in text.split(","):
        low, _, high = part.partition("..")
        out += range(int(low), int(high or low) + 1)
    return out


def rows_of(a):
    """All rows, the ones that the issue's bars need first, so that a short budget still answers them."""
    compile_sizes = set(sizes_of(a.compile_sizes if a.compile_sizes is not None else ("28" if a.quick else "28,30")))
    chosen = None if not a.workloads else [tuple((w.split(":") + [""])[:2]) for w in a.workloads.split(",")]
    layouts = a.layouts.split(",")

    def wanted(name, type_name):
        return chosen is None or any(name == n and t in ("", type_name) for n, t in chosen)

    def sizes(work, type_name, layout):
        if a.sizes:
            return sizes_of(a.sizes)
        if a.self_test:
            return [10, 13]
        first = work.name == "sum" and type_name == "f32"
        if layout != "even":
            return [20, 28] if first or not a.quick else []
        if a.quick:
            return [28, 30, 24, 20, 16, 12, 25, 22, 18, 14, 10] if first else [28]
        if first:
            return [28, 30, *range(10, 28), 29]
        if work.name == "sum":
            return [28, 30, 26, 24, 22, 20, 18, 16, 13, 10]
        return [28, 30, 26, 24, 20, 16]

    def compiles(work, type_name, layout, log2):
        if layout != "even" or log2 not in compile_sizes:
            return False
        return not a.quick or work.row == 3 or (work.name == "sum" and type_name == "f32")

    out = []
    for layout in layouts:
        for work in workloads.ALL:
            for type_name in work.types:
                if not wanted(work.name, type_name) or (layout != "even" and work.row > 2 and not a.self_test):
                    continue
                for log2 in sizes(work, type_name, layout):
                    out.append(Row(work, type_name, log2, layout, compiles(work, type_name, layout, log2)))
    # One type after the other (a pool is filled once per type), even rows of f32 first.
    rank = {t: i for i, t in enumerate(("f32", "f64", "bf16", "i32", "i8", "c64"))}
    first_names = {"sum": 0, "five": 1}
    out.sort(key=lambda r: (rank[r.type], layouts.index(r.layout) > 0, first_names.get(r.work.name, 2)))
    return out


def planted(inputs, row, backend, which, check):
    """Runs check with large values at both ends of every column, then puts the old ones back."""
    import contextlib

    if row.type in workloads.INTEGERS:
        low, high = workloads.INTEGERS[row.type]
        ends = (high // 2 + 1, low // 2 - 3)
    else:
        ends = row.work.plants
    kept = []
    for c in range(row.work.columns):
        column = inputs.column(c, which)
        kept.append((column, [column[i].item() for i in (0, row.n - 1)]))
        # Not the same pair in each column: a difference of columns must not cancel them.
        column[0], column[row.n - 1] = ends if c % 2 == 0 else ends[::-1]
    backend.synchronize()
    try:
        return check()
    finally:
        with contextlib.suppress(RuntimeError):
            for column, (head, tail) in kept:
                column[0], column[row.n - 1] = head, tail


def word_sum(backend, columns):
    """What the ceiling's kernel answers: every 32-bit word added, modulo 2^32."""
    total = 0
    for column in columns:
        words = column.view(backend.m.int32)
        for at in range(0, len(words), 1 << 26):
            total += int(backend.i64(words[at:at + (1 << 26)]).sum())
    return float(total % 2**32)


def verify(entrants, inputs, row, backend):
    """Answers of every entrant on two sets against the reference: ({entrant: reason} of the wrong ones, {entrant: error / room})."""
    wrong, worst = {}, {}

    def compare(which):
        columns = inputs.columns(which)
        expected = workloads.reference(backend, row.work, row.type, columns, row.n)
        words = None
        for e in entrants:
            if e in wrong:
                continue
            try:
                e.poison()
                backend.synchronize()
                e.burst(which, 1)
                backend.synchronize()
                got = e.results()
                if e.kind == "ceiling":
                    words = word_sum(backend, columns) if words is None else words
            except Exception as reason:
                if "CUDA error" in str(reason):
                    raise
                wrong[e] = f"failed: {first_line(reason)}"
                continue
            if e.kind == "ceiling":
                if got[0] != words:
                    wrong[e] = f"read {got[0]:.0f}, words are {words:.0f}"
                continue
            for (value, room), g in zip(expected, got):
                error = abs(g - value)
                if not error <= room:
                    wrong[e] = f"got {g!r}, expected {value!r} within {room:.3g}"
                worst[e] = max(worst.get(e, 0.0), error / room if room else (0.0 if error == 0 else float("inf")))
            if len(got) < len(expected):
                wrong[e] = f"{len(got)} answers, {len(expected)} expected"

    planted(inputs, row, backend, 0, lambda: compare(0))
    if inputs.sets > 1:
        compare(inputs.sets - 1)
    else:
        compare(0)
    return wrong, worst


def first_line(reason):
    """An exception in one short line."""
    return (str(reason).splitlines() or [""])[0][:300] or type(reason).__name__


class Clock:
    """Bursts between two events, many entrants in turn."""

    def __init__(self, backend, entrants, a):
        self.backend, self.entrants, self.a = backend, entrants, a
        self.at = 0

    def burst(self, e, count):
        e.burst(self.at, count)
        self.at += count

    def timed(self, e, count):
        begin, end = self.backend.event(), self.backend.event()
        self.backend.record(begin)
        self.burst(e, count)
        self.backend.record(end)
        return begin, end

    def estimate(self, e):
        self.burst(e, 2)
        self.backend.synchronize()
        pair = self.timed(e, 5)
        self.backend.synchronize()
        return max(self.backend.elapsed_us(*pair) / 5, 0.5)

    def run(self):
        """Microseconds per call of every trial of every entrant."""
        count = {e: max(3, min(200, round(self.a.burst_us / self.estimate(e)))) for e in self.entrants}
        for e in self.entrants:
            self.burst(e, count[e])
        pairs = {e: [] for e in self.entrants}
        turn = list(self.entrants)
        for _ in range(self.a.trials):
            for e in turn:
                pairs[e].append(self.timed(e, count[e]))
            turn = turn[1:] + turn[:1]  # nobody always runs after the same neighbour
        self.backend.synchronize()
        return {e: [self.backend.elapsed_us(*p) / count[e] for p in pairs[e]] for e in self.entrants}


def p95(values):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def measure(row, libraries, backend, a, notes):
    """One row: prepare, check, time. Returns its record, or None if nothing could run."""
    inputs = Inputs(backend, row, ROTATE if not a.self_test else 1 << 20)
    candidates = [e for lib in libraries for e in lib.entrants()
                  if e.workload == row.work.name and e.type == row.type and e.takes(row)]
    if not a.self_test:
        candidates += [who.Torch(backend.torch, row.work, row.type, c) for c in (False, True)]
        candidates = [e for e in candidates if e.takes(row)]
    left_out = set(filter(None, a.without.split(",")))
    candidates = [e for e in candidates if e.group() not in left_out and e.label not in left_out]
    ready, prepared = [], {}
    for e in candidates:
        began = time.perf_counter()
        try:
            e.prepare(row, inputs, backend.stream)
            backend.synchronize()
            ready.append(e)
            prepared[e] = time.perf_counter() - began
        except Exception as reason:  # one contestant's failure must not cost the others their row
            notes.append(f"{row}: {e.label} cannot: {first_line(reason)}")
    try:
        wrong, worst = verify(ready, inputs, row, backend)
        for e, reason in wrong.items():
            notes.append(f"{row}: {e.label} WRONG: {reason}")
        good = [e for e in ready if e not in wrong]
        times = Clock(backend, good, a).run() if good else {}
        entries = [{"label": e.label, "group": e.group(), "kind": e.kind, "median_us": statistics.median(t),
                    "p95_us": p95(t), "min_us": min(t), "gb_per_s": row.bytes / statistics.median(t) / 1e3,
                    "error_share": worst.get(e, 0.0), "prepare_s": prepared[e], "trials_us": [round(v, 4) for v in t]}
                   for e, t in times.items()]
        return {"row": row.work.row, "workload": row.name, "log2": row.log2, "n": row.n, "layout": row.layout,
                "bytes": row.bytes, "sets": inputs.sets, "entries": entries,
                "wrong": [{"label": e.label, "kind": e.kind, "reason": r} for e, r in wrong.items()]}
    finally:
        for e in ready:
            e.release()


def launch_floor(libraries, backend, a):
    """Empty kernels back to back, in microseconds."""
    work = workloads.Workload("empty", 1, ("f32",), None, None)
    row = Row(work, "f32", 10, "even", False)
    for lib in libraries:
        for e in lib.entrants():
            if e.workload == "empty":
                e.prepare(row, Inputs(backend, row, 1 << 20), backend.stream)
                times = Clock(backend, [e], a).run()[e]
                e.release()
                return statistics.median(times)
    return None


def self_test_expectations(records, notes):
    """What the self-test must have seen: a wrong contestant caught in every row it entered, nobody else accused."""
    failures = []
    accused = {(r["workload"], w["label"]) for r in records for w in r["wrong"]}
    if accused != {("sum f32", "plain drops the last element")}:
        failures.append(f"accused: {sorted(accused)}")
    for r in records:
        if r["workload"] == "sum f32" and not r["wrong"]:
            failures.append(f"{r['workload']} 2^{r['log2']} {r['layout']}: the dropped element was not seen")
    seen = {r["workload"] for r in records if r["entries"]}
    expected = {"sum f32", "sum i32", "sum f64", "sum i8", "sum c64", "dot f32", "norm f32", "sad f32", "wmse f32",
                "sumexp f32", "five f32", "argmax f32", "logsumexp f32", "variance f32"}
    if seen != expected:
        failures.append(f"rows seen {sorted(seen)}, expected {sorted(expected)}")
    return failures


def main(argv=None):
    a = parse(argv)
    began = time.perf_counter()
    notes = []
    if a.self_test:
        import numpy

        backend = OnHost(numpy, a.seed)
    else:
        import torch

        if not torch.cuda.is_available():
            sys.exit("bench: torch sees no CUDA device (--self-test runs without one)")
        backend = OnDevice(torch, a.seed)
    libraries = who.load(a.libs, "libselftest_*.so" if a.self_test else "libpeer_*.so", notes)
    libraries += [] if a.self_test else who.load(a.libs, "libtally_bench.so", notes)
    out = Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    head = {"date": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()), "command": " ".join(["tests/bench/run.py", *(argv or sys.argv[1:])]),
            **backend.describe(), "contestants": {lib.name: lib.version for lib in libraries}, "trials": a.trials,
            "burst_us": a.burst_us}
    if not a.self_test:
        head["empty kernel us"] = launch_floor(libraries, backend, a)
    records, skipped = [], []
    for row in rows_of(a):
        if a.self_test and row.type not in backend.dtypes:
            continue
        if time.perf_counter() - began > a.budget_seconds:
            skipped.append(str(row))
            continue
        if needed_bytes(row, ROTATE) > 0.9 * backend.free_bytes():
            skipped.append(f"{row} (memory)")
            continue
        try:
            record = measure(row, libraries, backend, a, notes)
        except Exception as reason:
            notes.append(f"{row}: row failed: {first_line(reason)}")
            if "CUDA error" in str(reason):  # the context is gone: what is measured is kept, the rest cannot be
                notes.append("stopped: the device context is lost")
                break
            continue
        if record["entries"] or record["wrong"]:
            records.append(record)
            print(report.progress(record), flush=True)
            report.write_json(out / "results.json", head, records, notes, skipped)
    head["wall_s"] = round(time.perf_counter() - began, 1)
    bars = report.judge(json.loads((Path(__file__).parent / "bars.json").read_text())["bars"], records)
    report.write_json(out / "results.json", head, records, notes, skipped, bars)
    (out / "picture.svg").write_text(report.picture(head, records))
    text = report.table(head, records, bars, notes, skipped)
    (out / "table.txt").write_text(text)
    print(text)
    if a.self_test:
        failures = self_test_expectations(records, notes)
        print("self-test: " + ("passed" if not failures else "FAILED\n  " + "\n  ".join(failures)))
        return 1 if failures else 0
    return 1 if any(w["kind"] == "tally" for r in records for w in r["wrong"]) else 0


if __name__ == "__main__":
    sys.exit(main())
