# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The programs that measure, which are built by hand, are C++ that still compiles: what they measure may have changed since.
import shutil
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

import layout
from check_headers import include_flags


@unittest.skipUnless(shutil.which("g++"), "no g++")
class Benches(layout.Check):
    def test_benches_compile(self):
        """every program of the bench that needs no nvcc compiles"""
        flags = ["-std=c++20", "-fopenmp", "-fsyntax-only", "-w", f"-I{layout.ROOT / 'dsl'}", f"-I{layout.ROOT / 'tests'}", "-DBENCH_FLAGS=\"\"",
                 "-DBENCH_HAS_TBB=0", "-DBENCH_HAS_EIGEN=0", "-DBENCH_HAS_XTENSOR=0", "-DTHRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP",
                 "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_OMP"]

        def errors(source):
            run = subprocess.run(["g++", *flags, *include_flags(), str(source)], capture_output=True, text=True)
            return run.stderr[:1500] if run.returncode != 0 else ""

        sources = sorted((layout.ROOT / "tests" / "bench").glob("*.cpp"))
        with ThreadPoolExecutor(2) as both:
            bad = [text for text in both.map(errors, sources) if text]
        self.assertTrue(sources)
        self.assertEqual(bad, [])
