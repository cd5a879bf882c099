// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that says `using namespace tally` and has names of its own, which are those of things inside the library.
#include <tally/complex.hpp>
#include <tally/ranges.hpp>
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <vector>

using namespace tally;

struct grid {};
struct row {};
struct column {};
struct domain {};
struct plan {};
struct source {};
struct element {};
struct position {};
struct place {};
struct facts {};
struct pack {};
struct program {};
struct monoid {};
struct grouping {};
struct segments_plan {};
struct spread {};
struct stage {};
struct pipeline {};
struct operand {};
struct seen {};
struct turn {};
int join(row, row) { return 1; }
int cell_of(grid, position) { return 2; }
int value_of(column) { return 3; }
int shape_of(grid) { return 4; }
int get(source) { return 5; }
int bind(plan) { return 6; }
int spell(domain) { return 7; }
namespace gpu {
constexpr int count = 8;
}
namespace cpu {
constexpr int threads = 9;
}
namespace kernel {
constexpr float width = 10;
}
namespace detail {
constexpr int depth = 11;
}

TEST_CASE("names of a program do not meet those inside the library") {
  std::vector<float> const x(100, 2.f);
  std::vector<row> const rows(2);
  int const own = join(rows[0], row{}) + cell_of(grid{}, position{}) + value_of(column{}) + shape_of(grid{}) + get(source{}) + bind(plan{}) + spell(domain{});
  CHECK(own == 28);
  CHECK(gpu::count + cpu::threads + detail::depth == 28);
  CHECK(run(from(x) | map(_1 * kernel::width) | sum, on::cpu) == 2000.f);
  std::tuple<element, place, facts, pack, program, monoid, grouping, segments_plan, spread, stage, pipeline, operand, seen, turn> const others;
  static_cast<void>(others);
}
