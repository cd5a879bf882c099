# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every header compiles alone with g++, those that no other includes with clang++, which reads all of them so, and every lesson with the
# compiler that does not build it. One that another begins with is read alone there. What passed is remembered by content below the
# build folder, so a second run compiles only what changed. (What NVRTC sees is tests/rtc.)
import concurrent.futures
import hashlib
import re
import shutil
import subprocess

import layout

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", "-ffp-contract=off"]


def include_flags():
    return ["-I", str(layout.INCLUDE), "-isystem", layout.built_with("TALLY_CCCL_INCLUDE_DIR")]


def compiles(compiler, version, what, text, headers):
    """None, or what the compiler said of a text that includes these headers."""
    contents = [(name, layout.text(f"include/{name}")) for name in headers]
    key = hashlib.sha256(repr((version, FLAGS, include_flags(), text, contents)).encode()).hexdigest()
    passed = layout.BUILD / "tests" / "headers_passed" / key
    if passed.exists():
        return None
    run = subprocess.run([compiler, *FLAGS, *include_flags(), "-I", str(layout.ROOT / "examples"), "-fsyntax-only", "-x", "c++", "-"],
                         input=text, capture_output=True, text=True)
    if run.returncode != 0:
        errors = [line for line in run.stderr.splitlines() if "error:" in line] or run.stderr.splitlines()
        return f"{what}: " + errors[0]
    passed.parent.mkdir(parents=True, exist_ok=True)
    passed.touch()
    return None


def first_included(header):
    """What a header includes in front of all else."""
    directives = [line for line in layout.text(f"include/{header}").splitlines() if line.startswith("#") and line != "#pragma once"]
    found = re.match(r"#include <(.+)>", directives[0]) if directives else None
    return found and found[1]


class Headers(layout.Check):
    def compile_all(self, compiler, texts):
        """texts: what each is called, itself, and the public header it begins with."""
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler} on this machine")
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
        with concurrent.futures.ThreadPoolExecutor(layout.cores()) as pool:
            wrong = [said for said in pool.map(lambda one: compiles(compiler, version, one[0], one[1], layout.closure(one[2])), texts) if said]
        self.assertTrue(texts)
        self.none_of(wrong)

    def alone(self):
        return [(header, f"#include <{header}>\n", header) for header in layout.headers() if header.endswith(".hpp")]

    def test_alone_with_gcc(self):
        """every .hpp compiles alone with g++"""
        read_there = {first_included(header) for header, _, _ in self.alone()}
        self.compile_all("g++", [one for one in self.alone() if one[0] not in read_there])

    def test_all_with_clang(self):
        """every .hpp that no other includes compiles with clang++, and with it all the others"""
        included = {inner for header, _, _ in self.alone() for inner in layout.includes(f"include/{header}")}
        self.compile_all("clang++", [one for one in self.alone() if one[0] not in included])

    def test_lessons_with_clang(self):
        """every lesson compiles with clang++, which looks into more of a template than g++ does"""
        lessons = [str(lesson) for lesson in layout.below("examples", ".cpp") if lesson.parent.name == "examples"]
        self.compile_all("clang++", [(lesson, layout.text(lesson), "tally/tally.hpp") for lesson in lessons])
