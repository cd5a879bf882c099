# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What every file keeps: size, names, licence line, macros, and nothing of the machine it was written on.
import re

import layout

HARD_LIMIT, SOFT_LIMIT, MACROS = 500, 300, 10
SCRIPTS = (".py", ".sh", ".cmake")
# The words of docs/map.md that say nothing about a file; whole words between underscores.
EMPTY_WORDS = {"util", "utils", "helper", "helpers", "impl", "manager"}


def sources():
    named = {"CMakeLists.txt", "run", ".clang-format", ".clang-tidy"}
    return [name for name in layout.files() if name.suffix in (*layout.CODE, *SCRIPTS) or name.name in named]


def words(identifier):
    return set(re.split(r"[_\W]+", identifier.lower()))


class Style(layout.Check):
    def test_licence_line(self):
        """every source file names its licence in its first lines"""
        wrong = [str(name) for name in sources()
                 if "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" not in layout.text(name)[:200]]
        self.none_of(wrong)

    def test_every_header_says_what_it_decides(self):
        """every header opens with a paragraph and #pragma once"""
        wrong = [header for header in layout.headers()
                 if not re.match(r"// SPDX[^\n]*\n//\n(// \S[^\n]*\n)+", layout.text(f"include/{header}"))
                 or "#pragma once" not in layout.text(f"include/{header}")]
        self.none_of(wrong)

    def test_header_sizes(self):
        """no header is longer than 500 lines"""
        lines = {header: layout.text(f"include/{header}").count("\n") for header in layout.headers()}
        for header, count in lines.items():
            if SOFT_LIMIT < count <= HARD_LIMIT:
                print(f"          think again: {header} has {count} lines")
        wrong = [f"{header}: {count} lines" for header, count in lines.items() if count > HARD_LIMIT]
        self.none_of(wrong)

    def test_macros(self):
        """at most 10 macros, all TALLY_, all in base/config.hpp"""
        defined = [(header, macro) for header in layout.headers()
                   for macro in re.findall(r"^\s*#\s*define\s+(\w+)",
                                           layout.without_comments(layout.text(f"include/{header}")), re.MULTILINE)]
        wrong = [f"{header}: {macro}" for header, macro in defined
                 if header != "tally/base/config.hpp" or not macro.startswith("TALLY_")]
        self.none_of(wrong)
        self.assertLessEqual(len({macro for _, macro in defined}), MACROS, sorted({macro for _, macro in defined}))

    def test_pragmas_in_braces(self):
        """no pragma follows `if constexpr` without a brace between, for which NVRTC leaves out the statement behind"""
        bare = re.compile(r"\b(?:if constexpr|else if constexpr)\b[^{};]*\n\s*#\s*pragma")
        self.assertRegex("if constexpr (a)\n#pragma unroll", bare)
        wrong = [header for header in layout.headers()
                 if bare.search(layout.without_comments(layout.text(f"include/{header}")))]
        self.none_of(wrong)

    def test_file_names(self):
        """file names are snake_case words that say something"""
        wrong = [str(name) for name in layout.files() for part in name.parts if words(part) & EMPTY_WORDS]
        wrong += [str(name) for name in layout.files() if name.suffix in layout.CODE
                  and not re.fullmatch(r"[a-z0-9_]+|[RBPCE]\d+\w*", name.stem)]
        self.none_of(wrong)

    def test_identifiers(self):
        """identifiers avoid the same empty words"""
        wrong = [f"{name}: {identifier}" for folder in ("include", "dsl") for name in layout.below(folder, *layout.CODE)
                 for identifier in set(re.findall(r"[A-Za-z_]\w*", layout.without_comments(layout.text(name))))
                 if words(identifier) & EMPTY_WORDS]
        self.none_of(wrong)

    def test_top_level(self):
        """the top level holds the agreed folders and files only"""
        agreed = {"dsl", "include", "examples", "tests", "docs", "CMakeLists.txt", "README.md", "LICENSE", "CHANGELOG.md"}
        wrong = {name.parts[0] for name in layout.files()} - agreed
        wrong = [name for name in wrong if not name.startswith(".") and not name.endswith(".json")]
        self.none_of(wrong)

    def test_no_path_of_a_machine(self):
        """no file names a path of the machine it was written on"""
        home = re.compile(r"(?<![\w.$}/])/(?:work|root|tmp|Users|home(?!/x\b))/[\w.]")  # /home/x is anybody
        wrong = []
        for name in layout.files():
            if (layout.ROOT / name).stat().st_size > 300_000 or name.name == "check_style.py":
                continue
            wrong += [f"{name}: {line.strip()[:120]}" for line in layout.text(name).splitlines() if home.search(line)]
        self.none_of(wrong)
