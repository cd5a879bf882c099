# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs that must not compile. Each tests/refusals/<code>_<what>.cpp (R6_run_without_a_fold.cpp) makes one mistake; it
# must be met with exactly one error, whose text holds [tally-<code>] and every `// refused: <text>` line of the file, in
# at most ten lines of diagnostics, by g++ and by clang++. Every code of base/because.hpp has such a program.
import concurrent.futures
import os
import re
import shutil
import subprocess

import layout
from check_headers import include_flags

MOST_LINES = 10
FLAGS = ["-std=c++20", "-ffp-contract=off", "-fsyntax-only", "-fdiagnostics-color=never"]


def programs():
    return [name for name in layout.below("tests/refusals", ".cpp")]


def refusal(compiler, program):
    """None when the program is refused as it should be, or what is wrong."""
    run = subprocess.run([compiler, *FLAGS, *include_flags(), str(program)], cwd=layout.ROOT, capture_output=True,
                         text=True, env={"PATH": os.environ["PATH"], "LC_ALL": "C"})
    said = run.stderr
    code = program.stem.split("_")[0]
    expected = [f"[tally-{code}]", *re.findall(r"^\s*// refused: (.*)$", layout.text(program), re.MULTILINE)]
    wrong = []
    if run.returncode == 0:
        return f"{program}: {compiler} accepts it"
    errors = len(re.findall(r"\berror:", said))
    if errors != 1:
        wrong.append(f"{errors} errors instead of one")
    wrong += [f"the message lacks \"{text}\"" for text in expected if " ".join(text.split()) not in " ".join(said.split())]
    if said.count("\n") > MOST_LINES:
        wrong.append(f"{said.count(chr(10))} lines of diagnostics, more than {MOST_LINES}")
    return f"{program}: {compiler}: {'; '.join(wrong)}\n{said[:2500]}" if wrong else None


class Refusals(layout.Check):
    def refuse_all(self, compiler):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler} on this machine")
        self.assertTrue(programs(), "tests/refusals holds no program")
        with concurrent.futures.ThreadPoolExecutor(layout.cores()) as pool:
            self.none_of(said for said in pool.map(lambda program: refusal(compiler, program), programs()) if said)

    def test_refused_by_gcc(self):
        """every refusal is one error of at most ten lines with g++"""
        self.refuse_all("g++")

    def test_refused_by_clang(self):
        """every refusal is one error of at most ten lines with clang++"""
        self.refuse_all("clang++")

    def test_every_rule_has_a_program(self):
        """every code of base/because.hpp has a program that breaks it"""
        codes = set(re.findall(r"\[tally-([A-Z]\d+)\]", layout.text("include/tally/base/because.hpp")))
        self.none_of(f"no tests/refusals/{code}_*.cpp" for code in
                     sorted(codes - {program.stem.split("_")[0] for program in programs()}))
