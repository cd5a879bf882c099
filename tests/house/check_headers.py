# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every header compiles alone, with every host compiler on this machine. What passed is remembered by content below
# the build folder, so a second run compiles only what changed. (What NVRTC sees is tests/rtc.)
import concurrent.futures
import hashlib
import shutil
import subprocess

import layout

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", "-ffp-contract=off"]


def include_flags():
    return ["-I", str(layout.INCLUDE), "-isystem", layout.built_with("TALLY_CCCL_INCLUDE_DIR")]


def compiles_alone(compiler, version, header):
    """None, or what the compiler said."""
    contents = [(name, layout.text(f"include/{name}")) for name in layout.closure(header)]
    key = hashlib.sha256(repr((version, FLAGS, include_flags(), header, contents)).encode()).hexdigest()
    passed = layout.BUILD / "tests" / "headers_passed" / key
    if passed.exists():
        return None
    run = subprocess.run([compiler, *FLAGS, *include_flags(), "-fsyntax-only", "-x", "c++", "-"],
                         input=f"#include <{header}>\n", capture_output=True, text=True)
    if run.returncode != 0:
        errors = [line for line in run.stderr.splitlines() if "error:" in line] or run.stderr.splitlines()
        return f"{header}: " + errors[0]
    passed.parent.mkdir(parents=True, exist_ok=True)
    passed.touch()
    return None


class Headers(layout.Check):
    def compile_all(self, compiler):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler} on this machine")
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
        headers = [header for header in layout.headers() if header.endswith(".hpp")]
        with concurrent.futures.ThreadPoolExecutor(layout.cores()) as pool:
            wrong = [said for said in pool.map(lambda header: compiles_alone(compiler, version, header), headers) if said]
        self.assertTrue(headers)
        self.none_of(wrong)

    def test_alone_with_gcc(self):
        """every .hpp compiles alone with g++"""
        self.compile_all("g++")

    def test_alone_with_clang(self):
        """every .hpp compiles alone with clang++"""
        self.compile_all("clang++")
