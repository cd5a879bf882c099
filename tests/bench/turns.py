# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Times contestants on a GPU that take turns, for axes.py, let.py, let_groups.py, mixed.py and operands.py. Test layer.
import argparse
import datetime
import sys
from pathlib import Path


def options_of_matrices(doc, library, shapes):
    """The parser of a bench that folds matrices of several shapes and types by a library of the build."""
    p = argparse.ArgumentParser(description=doc)
    p.add_argument("--library", default=str(Path(__file__).resolve().parents[2] / "build" / "bench" / library))
    p.add_argument("--types", default="f32,bf16")
    p.add_argument("--shapes", default=shapes)
    p.add_argument("--trials", type=int, default=20)
    p.add_argument("--compiled", action="store_true", help="torch.compile too")
    return p


def say_what_runs(torch, trials):
    """Date, command and device, for what is pasted into docs/measured."""
    print("date:", datetime.datetime.now().isoformat(" ", "seconds"))
    print(f"command: tests/bench/{Path(sys.argv[0]).name}", " ".join(w for w in sys.argv[1:] if "/" not in w))
    print(f"device: {torch.cuda.get_device_properties(0).name}, torch {torch.__version__}; median microseconds of {trials} interleaved trials")


def measure(torch, contestants, trials, calls=1, warm=3, from_idle=False):
    """Microseconds a call of every trial of each contestant: `calls` of them between two events, `from_idle` on a stream with nothing to do."""
    for run in contestants.values():
        for _ in range(warm):
            run()
    times = {name: [] for name in contestants}
    for _ in range(trials):
        for name, run in contestants.items():
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            if from_idle:
                torch.cuda.synchronize()
            begin.record()
            for _ in range(calls):
                run()
            end.record()
            end.synchronize()
            times[name].append(begin.elapsed_time(end) * 1000 / calls)
    return times
