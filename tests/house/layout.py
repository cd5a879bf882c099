# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Where things are: the files of the repository, the build folder, and what the build found. Shared by the checks.
import functools
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
BUILD = ROOT / "build"
CODE = (".hpp", ".cuh", ".cpp", ".cu")


def set_build(folder):
    global BUILD
    BUILD = pathlib.Path(folder).resolve()


@functools.cache
def files():
    """Every file of the repository that git would keep, relative to the root; all files outside a git checkout."""
    git = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True)
    if git.returncode == 0:
        names = [name for name in git.stdout.split("\0") if name]
    else:
        skipped = {"build", ".git", "__pycache__"}
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
                 if path.is_file() and not skipped & set(path.relative_to(ROOT).parts)]
    return sorted(pathlib.PurePosixPath(name) for name in names if (ROOT / name).is_file())


def below(folder, *suffixes):
    """The files below a folder with one of the suffixes, relative to the root."""
    return [name for name in files() if name.is_relative_to(folder) and name.suffix in suffixes]


@functools.cache
def text(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def headers():
    """The public headers by the names users include, such as tally/base/config.hpp."""
    return [str(name.relative_to("include")) for name in below("include", ".hpp", ".cuh")]


@functools.cache
def includes(name):
    """What a file includes: (name between the brackets or quotes), in order."""
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text(name), re.MULTILINE)


@functools.cache
def closure(header):
    """A public header and every public header it reaches, sorted."""
    seen, open_ = set(), [header]
    while open_:
        name = open_.pop()
        if name in seen or not (INCLUDE / name).is_file():
            continue
        seen.add(name)
        open_ += [found for found in includes(f"include/{name}") if found.startswith("tally/")]
    return sorted(seen)


def without_comments(code):
    """The code with comments blanked, lines kept; string literals stay."""
    pattern = r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")'
    return re.sub(pattern, lambda m: m.group(1) or re.sub(r"[^\n]", " ", m.group(0)), code, flags=re.DOTALL)


def built_with(variable):
    """The value of a variable of the build's CMake cache, or an empty string."""
    cache = BUILD / "CMakeCache.txt"
    found = re.search(rf"^{variable}:\w+=(.*)$", cache.read_text(), re.MULTILINE) if cache.is_file() else None
    return found.group(1) if found else ""


def cores():
    return os.cpu_count() or 2


class Check(unittest.TestCase):
    """A case that fails with the list of what it found."""

    def none_of(self, wrong):
        wrong = [str(one) for one in wrong]
        more = [f"... and {len(wrong) - 30} more"] if len(wrong) > 30 else []
        if wrong:
            self.fail("\n".join(wrong[:30] + more))
