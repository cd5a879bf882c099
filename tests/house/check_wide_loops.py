# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What loops for AVX2 and FMA leave as it was in a program that is compiled for any x86: two roundings where it writes two operations,
# though it is compiled without -ffp-contract=off, and the upper halves of vector registers empty, at any level.
import platform
import re
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
class WideLoops(layout.Check):
    def compilers(self):
        found = [c for c in ("g++", "clang++") if shutil.which(c)]
        if not found:
            self.skipTest("no compiler")
        return found

    def assembly(self, compiler, other="max", level="-O2"):
        run = subprocess.run([compiler, "-std=c++20", level, *include_flags(), "-S", "-x", "c++", "-", "-o", "-"],
                             input=PROGRAM.replace("OTHER", other), capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr[:3000])
        self.assertTrue("%ymm" in run.stdout, f"no vectors in what {compiler} {level} makes")
        return run.stdout

    def fused(self, compiler, other):
        lines = map(str.strip, self.assembly(compiler, other).splitlines())
        return [line for line in lines if line.startswith(("vfm", "vfn"))]

    def test_upper_halves_are_left_empty(self):
        """a function that uses 32-byte registers empties their upper halves, at any level of optimising"""
        for compiler in self.compilers():
            for level in ("-Og", "-O1", "-O2"):
                functions = re.split(r"^(_Z\w+):", self.assembly(compiler, level=level), flags=re.M)
                bad = [name for name, body in zip(functions[1::2], functions[2::2])
                       if "%ymm" in body and "vzeroupper" not in body]
                self.assertEqual(bad, [], f"{compiler} {level}")

    def test_nothing_is_fused_that_is_not_fused_by_name(self):
        """without -ffp-contract=off no compiler fuses what is not fused by name"""
        compilers = self.compilers()
        for compiler in compilers:
            self.assertEqual(self.fused(compiler, "max"), [], compiler)
        self.assertNotEqual(self.fused(compilers[0], "sum(exp(_1))"), [])
