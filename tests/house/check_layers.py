# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The arrows of docs/map.md: who may include whom.
import re

import layout

# What each folder of include/tally may include besides its own files; single headers are named in full.
MAY_INCLUDE = {
    "base": [],
    "element": ["base"],
    "fold": ["element", "base"],
    "pipeline": ["fold", "element", "base"],
    "primitive": ["base"],
    "plan": ["primitive", "pipeline", "fold", "element", "base"],
    "kernel": ["plan/plan.hpp", "plan/facts.hpp", "plan/combinable.hpp", "plan/group_facts.hpp", "plan/axes_plan.hpp", "plan/mixed_plan.hpp", "plan/keys_plan.hpp", "plan/segments_plan.hpp", "plan/segments_read.hpp", "plan/batch_plan.hpp", "plan/turns_plan.hpp", "plan/one_segment_plan.hpp", "plan/slot_sort_plan.hpp", "plan/partitioned_keys_plan.hpp", "plan/sorted_keys_plan.hpp", "plan/sorted_rows_plan.hpp", "primitive", "fold", "element", "base"],
    "run": ["kernel", "plan", "primitive", "pipeline", "fold", "element", "base"],
}
TOP = [*MAY_INCLUDE]  # headers directly in tally/: they stand above all layers
# Headers that a unit takes in only when its plan asks for that route.
OF_ONE_ROUTE = {("tally/kernel/block_cub.cuh", "cub/block/block_reduce.cuh")}
CHEAP = {f"cuda/std/{name}" for name in ("concepts", "limits", "cstdint", "cstddef")} | {"cuda/ptx"}  # for NVRTC
VERBS = {"map", "filter", "over", "by_segment", "by_key", "group_by", "histogram", "reduce", "from"}


def layer(header):
    parts = header.split("/")
    return parts[1] if len(parts) > 2 else ""


def allowed(header, included):
    own = layer(header)
    if own and layer(included) == own:
        return True
    rest = included.removeprefix("tally/")
    return any(rest == name or rest.startswith(name + "/") for name in (MAY_INCLUDE.get(own, []) if own else TOP))


class Layers(layout.Check):
    def test_arrows_point_down(self):
        """headers include only the layers below them"""
        wrong = [f"{header} includes {found}" for header in layout.headers() if header != "tally/tally.hpp"
                 for found in layout.includes(f"include/{header}")
                 if found.startswith("tally/") and layer(header) and not allowed(header, found)]
        self.none_of(wrong)

    def test_every_folder_is_a_layer(self):
        """every folder of include/tally is a known layer"""
        unknown = {layer(header) for header in layout.headers()} - {*MAY_INCLUDE, ""}
        self.none_of(sorted(unknown))

    def test_no_cycle(self):
        """no header reaches itself"""
        wrong = []
        for header in layout.headers():
            direct = [name for name in layout.includes(f"include/{header}") if name.startswith("tally/")]
            wrong += [f"{header} through {name}" for name in direct if header in layout.closure(name)]
        self.none_of(wrong)

    def test_everything_included_is_there(self):
        """every <tally/...> that is included exists"""
        known = set(layout.headers())
        wrong = [f"{name} includes {found}" for folder in ("include", "dsl", "examples", "tests")
                 for name in layout.below(folder, *layout.CODE) for found in layout.includes(name)
                 if found.startswith("tally/") and found not in known]
        self.none_of(wrong)

    def test_the_umbrella_is_for_users(self):
        """no header includes tally/tally.hpp"""
        wrong = [header for header in layout.headers() if "tally/tally.hpp" in layout.includes(f"include/{header}")]
        self.none_of(wrong)

    def test_verbs_stand_alone(self):
        """no verb of the pipeline includes another verb"""
        wrong = [f"{header} includes {found}" for header in layout.headers()
                 if layer(header) == "pipeline" and stem(header) in VERBS - {"from"}
                 for found in layout.includes(f"include/{header}")
                 if layer(found) == "pipeline" and stem(found) in VERBS - {"from"}]
        self.none_of(wrong)

    def test_headers_do_not_know_the_compiled_side(self):
        """headers include nothing of dsl/, and no library that only dsl/ may use"""
        foreign = re.compile(r"^(dsl|cpu|gpu|jit|ranks)/|^(fmt|nlohmann|thrust|cub|CLI)/|^cuda(_runtime)?(_api)?\.h$|^nvrtc")
        wrong = [f"{header} includes {found}" for header in layout.headers()
                 for found in layout.includes(f"include/{header}") if foreign.search(found)
                 and (header, found) not in OF_ONE_ROUTE]
        self.none_of(wrong)

    def test_ranges_and_doctest_have_one_door(self):
        """range-v3 comes in only with tally/ranges.hpp, doctest only with tally/testing.hpp"""
        doors = {"range": "tally/ranges.hpp", "doctest": "tally/testing.hpp"}
        wrong = [f"{header} includes {found}" for header in layout.headers()
                 for found in layout.includes(f"include/{header}")
                 if header != doors.get(found.split("/")[0], header)]
        self.none_of(wrong)

    def test_the_jit_sees_kernels_as_text(self):
        """dsl/jit and dsl/gpu include no kernel"""
        wrong = [f"{name} includes {found}" for folder in ("dsl/jit", "dsl/gpu")
                 for name in layout.below(folder, ".hpp", ".cpp") for found in layout.includes(name)
                 if found.startswith("tally/kernel/")]
        self.none_of(wrong)

    def test_device_code_includes_cheap_headers_only(self):
        """what kernels include takes nothing of std and only the cheap headers of libcu++"""
        starts = [header for header in layout.headers() if layer(header) in ("element", "fold", "primitive", "kernel")
                  or header in ("tally/plan/plan.hpp", "tally/plan/facts.hpp")]
        device = {header for start in starts for header in layout.closure(start)}
        wrong = [f"{header} includes {found}" for header in sorted(device)
                 for found in unconditional_includes(header)
                 if not found.startswith("tally/") and found not in CHEAP and (header, found) not in OF_ONE_ROUTE]
        self.none_of(wrong)

    def test_what_some_plans_ask_for_comes_with_them(self):
        """the kernel of full reductions reaches no header that its units take in for some plans only"""
        asked_for = re.findall(r'push_back\("(tally/kernel/[^"]+)"\)', layout.text("dsl/gpu/full.cpp"))
        self.assertTrue(asked_for, "dsl/gpu/full.cpp adds no kernel header")
        self.none_of(sorted({*asked_for} & {*layout.closure("tally/kernel/full.cuh")}))

    def test_libcudacxx_has_one_door_for_both_sides(self):
        """headers of host programs take libcu++ through tally/base/stl.hpp, its cheap headers, and complex numbers"""
        doors = {"tally/base/stl.hpp": CHEAP, "tally/complex.hpp": {"cuda/std/complex"}}
        wrong = [f"{header} includes {found}" for header in layout.headers() if header.endswith(".hpp")
                 for found in layout.includes(f"include/{header}")
                 if found.startswith("cuda/") and found not in doors.get(header, ())]
        self.none_of(wrong)

    def test_hosts_pay_for_no_dear_header(self):
        """what users include leaves out the dear headers of the standard library"""
        dear = {"algorithm", "atomic", "chrono", "functional", "iostream", "memory", "mutex", "numeric", "ostream", "sstream", "thread"}
        wrong = [f"{header} includes {found}" for header in layout.closure("tally/tally.hpp")
                 for found in layout.includes(f"include/{header}") if found in dear]
        self.none_of(wrong)


def stem(header):
    return header.rsplit("/", 1)[-1].split(".")[0]


def unconditional_includes(header):
    """Includes outside every #if: what NVRTC always sees. Host-only ones stand in an #if of __CUDACC_RTC__."""
    depth, found = 0, []
    for line in layout.text(f"include/{header}").splitlines():
        if re.match(r"\s*#\s*if", line):
            depth += 1
        elif re.match(r"\s*#\s*endif", line):
            depth -= 1
        elif depth == 0 and (match := re.match(r'\s*#\s*include\s*[<"]([^>"]+)', line)):
            found.append(match.group(1))
    return found
