# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Documentation that cannot rot: every verb has its test and its page, every snippet is compiled code, links lead
# somewhere, and to every page.
import pathlib
import posixpath
import re

import layout
from check_layers import VERBS


def verbs():
    """The stems of the pipeline headers that are verbs."""
    return [name.stem for name in layout.below("include/tally/pipeline", ".hpp") if name.stem in VERBS]


def squeezed(code):
    return " ".join(code.split())


def snippets(page):
    return re.findall(r"^[ \t]*```cpp\n(.*?)^[ \t]*```", layout.text(page), re.DOTALL | re.MULTILINE)


def pages():
    shown = [name for name in layout.files() if str(name) == "README.md"]
    return shown + layout.below("docs/tutorial", ".md") + layout.below("docs/howto", ".md")


def links(page):
    """Where the relative links of a page lead, from its own folder."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", layout.text(page), flags=re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", prose)
            if "://" not in target and not target.startswith(("mailto:", "build/"))]


def reached_from(page):
    """The pages that links lead to, itself and by and by; a folder is its README.md."""
    known, seen, open_ = set(layout.files()), set(), [pathlib.PurePosixPath(page)]
    while open_:
        name = open_.pop()
        if name in seen or name not in known or name.suffix != ".md":
            continue
        seen.add(name)
        targets = [pathlib.PurePosixPath(posixpath.normpath(str(name.parent / target))) for target in links(name)]
        open_ += [target / "README.md" if (layout.ROOT / target).is_dir() else target for target in targets]
    return seen


class Pages(layout.Check):
    def test_every_verb_has_its_test_and_page(self):
        """every verb x has tests/pipeline/x.cpp and docs/reference/x.md"""
        wanted = [path for verb in verbs() for path in (f"tests/pipeline/{verb}.cpp", f"docs/reference/{verb}.md")]
        known = {str(name) for name in layout.files()}
        self.assertTrue(verbs(), "include/tally/pipeline holds no verb")
        self.none_of([path for path in wanted if path not in known])

    def test_every_word_is_described(self):
        """every word that `using namespace tally` brings from tally/tally.hpp is on a page of docs/reference or of errors"""
        words = [word for line in re.findall(r"^using (v0::[^;]*);", layout.text("include/tally/tally.hpp"), re.MULTILINE)
                 for word in re.findall(r"v0::(\w+)", line)]
        shown = layout.below("docs/reference", ".md") + [pathlib.PurePosixPath("docs/errors.md")]
        code = " ".join(span for page in shown for span in re.findall(r"```cpp.*?```|`[^`\n]+`", layout.text(page), re.DOTALL))
        self.assertGreater(len(words), 100)
        self.none_of(sorted(set(words) - set(re.findall(r"\w+", code))))

    def test_snippets_are_compiled_code(self):
        """every ```cpp block of README, tutorial and how-to is part of an example or a test"""
        compiled = [squeezed(layout.text(name)) for folder in ("examples", "tests")
                    for name in layout.below(folder, *layout.CODE)]
        wrong = [f"{page}:\n{snippet}" for page in pages() for snippet in snippets(page)
                 if not any(squeezed(snippet) in code for code in compiled)]
        self.none_of(wrong)

    def test_links_lead_somewhere(self):
        """every relative link in a page leads to a file"""
        self.none_of(f"{page}: {target}" for page in layout.files() if page.suffix == ".md" for target in links(page)
                     if not (layout.ROOT / page.parent / target).exists())

    def test_every_page_is_reached(self):
        """links lead from README.md to every page below docs/"""
        reached = reached_from("README.md")
        self.none_of(page for page in layout.below("docs", ".md") if page not in reached)

    def test_every_code_is_explained(self):
        """every code [tally-X1] a user can meet is a heading of docs/errors.md"""
        codes = {code for folder in ("include", "dsl") for name in layout.below(folder, *layout.CODE)
                 for code in re.findall(r"\[tally-([A-Z]\d+)\]", layout.text(name))}
        causes = re.search(r"enum class error_code[^{]*\{(.*?)\}", layout.text("include/tally/base/error.hpp"), re.DOTALL)
        codes |= {f"E{number}" for number in re.findall(r"=\s*(\d+)", causes.group(1))}
        self.assertTrue(codes, "no code found in include/ or dsl/")
        page = layout.text("docs/errors.md") if (layout.ROOT / "docs/errors.md").is_file() else ""
        explained = set(re.findall(r"^#+ +`?(?:tally-)?([A-Z]\d+)\b|<a (?:id|name)=\"([A-Z]\d+)\"", page, re.MULTILINE))
        explained = {one or other for one, other in explained}
        self.none_of(f"docs/errors.md lacks {code}" for code in sorted(codes - explained))
