#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs every check_*.py of tests/house, tests/package and tests/refusals, prints one line a case, and ends with
# "N passed, N failed". A case without its tool on this machine says so and counts as neither.
import argparse
import sys
import time
import unittest

import layout


class LineResult(unittest.TestResult):
    """One line a case as it ends, the reason below a failed one."""

    passed = 0

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def report(self, test, verdict, detail=""):
        sentence = test.shortDescription() or test.id()
        print(f"{verdict:7} {time.monotonic() - self.started:6.1f} s  {sentence}{detail}", flush=True)

    def addSuccess(self, test):
        self.passed += 1
        self.report(test, "ok")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.report(test, "skipped", f": {reason}")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.report(test, "FAILED", f"\n{error[1]}")

    def addError(self, test, error):
        super().addError(test, error)
        self.report(test, "FAILED", f"\n{self.errors[-1][1]}")


class Loader(unittest.TestLoader):
    """Leaves out cases whose name holds a word."""

    without = None

    def getTestCaseNames(self, of):
        return [n for n in super().getTestCaseNames(of) if not self.without or self.without not in f"{of.__name__}.{n}"]


def main():
    arguments = argparse.ArgumentParser(description="checks that the repository is in order")
    arguments.add_argument("--build", default="build", help="the build folder (default: build)")
    arguments.add_argument("only", nargs="*", help="run only cases whose name holds one of these words")
    arguments.add_argument("--without", help="leave out cases whose name holds this word")
    given = arguments.parse_args()
    layout.set_build(given.build)
    result = LineResult()
    for folder in ("house", "refusals", "package"):
        if not (layout.ROOT / "tests" / folder).is_dir():
            continue
        loader = Loader()
        loader.without = given.without
        loader.testNamePatterns = [f"*{word}*" for word in given.only] or None
        sys.path.insert(0, str(layout.ROOT / "tests" / folder))
        loader.discover(str(layout.ROOT / "tests" / folder), pattern="check_*.py").run(result)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
