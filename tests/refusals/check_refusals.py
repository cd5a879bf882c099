# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs that must not compile. Each tests/refusals/<code>_<what>.cpp (R6_run_without_a_fold.cpp) makes one mistake; it
# must be met by g++ and by clang++ with exactly one error, in at most ten lines of diagnostics, which hold [tally-<code>],
# the page docs/errors.md#<code>, the line of the program where the mistake is and every `// refused: <text>` line of the
# file. Every code of base/because.hpp has such a program.
import concurrent.futures
import functools
import os
import re
import shutil
import subprocess

import layout
from check_headers import include_flags

MOST_LINES = 10
FLAGS = ["-std=c++20", "-ffp-contract=off", "-fdiagnostics-color=never"]
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
COMPILERS = {"g++": "gcc", "clang++": "clang"}


def programs():
    return [name for name in layout.below("tests/refusals", ".cpp")]


def compiled(compiler, *arguments):
    return subprocess.run([compiler, *FLAGS, *arguments], cwd=layout.ROOT, capture_output=True, text=True, env=ENVIRONMENT)


@functools.cache
def precompiled(compiler):
    """The flags that bring <tally/tally.hpp> in a third of the time, and the diagnostic lines they hide."""
    folder = layout.BUILD / "tests" / "refusals" / COMPILERS[compiler]
    (folder / "tally").mkdir(parents=True, exist_ok=True)
    header = folder / "tally" / ("tally.hpp.gch" if compiler == "g++" else "tally.hpp.pch")
    made = compiled(compiler, *include_flags(), "-x", "c++-header", str(layout.INCLUDE / "tally/tally.hpp"), "-o",
                    str(header))
    if made.returncode != 0:
        return [], 0
    # g++ does not say which file included a precompiled header.
    return (["-I", str(folder)], 1) if compiler == "g++" else (["-include-pch", str(header)], 0)


def refusal(compiler, program):
    """None when the program is refused as it should be, or what is wrong."""
    flags, hidden = precompiled(compiler)
    run = compiled(compiler, *flags, *include_flags(), "-fsyntax-only", str(program))
    said = run.stderr
    code = program.stem.split("_")[0]
    if run.returncode == 0:
        return f"{compiler} accepts it"
    wrong = []
    errors = len(re.findall(r"\berror:", said))
    if errors != 1:
        wrong.append(f"{errors} errors instead of one")
    expected = [f"[tally-{code}]", f"docs/errors.md#{code}",
                *re.findall(r"^\s*// refused: (.*)$", layout.text(program), re.MULTILINE)]
    wrong += [f"the message lacks \"{text}\"" for text in expected if " ".join(text.split()) not in " ".join(said.split())]
    if said.count("\n") + hidden > MOST_LINES:
        wrong.append(f"{said.count(chr(10)) + hidden} lines of diagnostics, more than {MOST_LINES}")
    if not re.search(rf"^{re.escape(str(program))}:\d+:\d+:.*(required from here|requested here)", said, re.MULTILINE):
        wrong.append("no line of the program is named")
    return f"{compiler}: {'; '.join(wrong)}\n{said[:2500]}" if wrong else None


@functools.cache
def refusals(compiler):
    """What is wrong with each program, all compiled at once."""
    precompiled(compiler)
    with concurrent.futures.ThreadPoolExecutor(layout.cores()) as pool:
        return dict(zip(programs(), pool.map(lambda program: refusal(compiler, program), programs())))


class Refusals(layout.Check):
    def test_every_rule_has_a_program(self):
        """every code of base/because.hpp has a program that breaks it"""
        codes = set(re.findall(r"\[tally-([A-Z]\d+)\]", layout.text("include/tally/base/because.hpp")))
        self.assertTrue(codes)
        self.none_of(f"no tests/refusals/{code}_*.cpp" for code in
                     sorted(codes - {program.stem.split("_")[0] for program in programs()}))

    def test_fast_math_is_refused(self):
        """B1: compiling with -ffast-math is one error that says why"""
        for compiler in COMPILERS:
            if shutil.which(compiler):
                said = compiled(compiler, *include_flags(), "-ffast-math", "-fsyntax-only", "-x", "c++",
                                str(layout.INCLUDE / "tally/base/config.hpp")).stderr
                self.assertEqual(len(re.findall(r"\berror:", said)), 1, said)
                self.assertIn("[tally-B1]", said)


def add_case(program, compiler):
    def test(self):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler} on this machine")
        wrong = refusals(compiler)[program]
        self.assertIsNone(wrong, wrong)

    test.__doc__ = f"{program.stem} is one error, with {compiler}"
    setattr(Refusals, f"test_{program.stem}_by_{COMPILERS[compiler]}", test)


for each in programs():
    for one in COMPILERS:
        add_case(each, one)
