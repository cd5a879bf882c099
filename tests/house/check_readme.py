# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The first screen tells the truth: its program prints what is shown below it, and its refused line is refused with the
# words shown.
import re
import subprocess

import layout
from check_headers import include_flags


def blocks():
    """The code blocks of README.md in order: (language, text)."""
    return re.findall(r"```(\w*)\n(.*?)```", layout.text("README.md"), re.DOTALL)


class Readme(layout.Check):
    def test_program_prints_what_is_shown(self):
        """the program of README prints the answer and the plan shown below it"""
        library = layout.BUILD / "dsl" / "libtally.a"
        if not library.is_file():
            self.skipTest(f"no {library.name} in the build folder")
        shown = blocks()
        at = next(i for i, (_, text) in enumerate(shown) if "int main" in text)
        program = layout.BUILD / "tests" / "readme_program"
        program.parent.mkdir(parents=True, exist_ok=True)
        compiler = layout.built_with("CMAKE_CXX_COMPILER") or "g++"
        made = subprocess.run([compiler, "-std=c++20", "-O2", "-ffp-contract=off", *include_flags(), "-x", "c++", "-", "-x",
                               "none", str(library), "-fopenmp", "-ldl", "-o", str(program)], input=shown[at][1],
                              capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stderr[:3000])
        said = subprocess.run([program], capture_output=True, text=True, timeout=60).stdout
        self.assertEqual(said.strip(), shown[at + 1][1].strip(), f"README.md should show\n{said}")

    def test_refused_line_is_met_with_the_words_shown(self):
        """the refused line of README stands in tests/refusals, and its message is the one shown"""
        shown = [text for _, text in blocks()]
        message = next(text for text in shown if "[tally-R" in text)
        line = shown[shown.index(message) - 1].strip()
        programs = [layout.text(name) for name in layout.below("tests/refusals", ".cpp") if line in layout.text(name)]
        self.assertTrue(programs, f"no program of tests/refusals holds {line}")
        sentence = re.search(r"\[tally-R\d+\].*$", message, re.MULTILINE).group(0)
        spelled = re.sub(r'"\s*\n\s*"', "", layout.text("include/tally/base/because.hpp"))
        self.assertIn(sentence.strip(), spelled)
