# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Times contestants on a GPU that take turns, for axes.py, let.py and mixed.py. Test layer.


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
