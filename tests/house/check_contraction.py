# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program that is compiled without -ffp-contract=off keeps two roundings where it writes two operations, though the loops around
# them are compiled for processors with FMA.
import platform
import shutil
import subprocess
import unittest

import layout
from check_headers import include_flags

PROGRAM = """
#include <tally/tally.hpp>
#include <vector>
using namespace tally;
TALLY_FUNCTION(bent, (float x), { return x * x + 1.5f * x - 0.25f; });
double answer(std::vector<float> const& x) {
  auto const [a, b, c, d] = run(from(x) | reduce(sum(bent(_1)), sum(_1 * _1 + 1.5f * _1), variance, OTHER));
  return a + b + c + d + run(from(x) | map([](float v) { return v * v - 3.f; }) | sum);
}
"""


@unittest.skipIf(platform.machine() != "x86_64", "only x86 has two kinds of loops")
class Contraction(layout.Check):
    def fused(self, compiler, other):
        run = subprocess.run([compiler, "-std=c++20", "-O2", *include_flags(), "-S", "-x", "c++", "-", "-o", "-"],
                             input=PROGRAM.replace("OTHER", other), capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr[:3000])
        self.assertIn("%ymm", run.stdout)
        return [line for line in run.stdout.splitlines() if line.strip().startswith("vfm") or line.strip().startswith("vfn")]

    def test_nothing_is_fused_that_is_not_fused_by_name(self):
        """without -ffp-contract=off no compiler fuses what is not fused by name"""
        compilers = [c for c in ("g++", "clang++") if shutil.which(c)]
        if not compilers:
            self.skipTest("no compiler")
        for compiler in compilers:
            self.assertEqual(self.fused(compiler, "max"), [], compiler)
        self.assertNotEqual(self.fused(compilers[0], "sum(exp(_1))"), [])
