// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random pipelines along axes, on a GPU and on the CPU, whose answers tests/properties compares with their groups alone: the same
// bits. TALLY_PIPELINES says how many (400: each new plan is a kernel to compile), TALLY_SEED where they begin.
#include "gpu/on_device.hpp"
#include "gpu/same_arrays.hpp"
#include "gpu/watchdog.hpp"
#include "properties/recipe.hpp"

#include <cstdio>
#include <cstdlib>

namespace random_axes {
using namespace tally;
TALLY_STRUCT(line, { unsigned scale, shift; });
TALLY_FUNCTION(then, (line a, line b), { return line{a.scale * b.scale, a.shift * b.scale + b.shift}; });
TALLY_FUNCTION(line_of, (int x), { return line{unsigned(x) * 2 + 1, unsigned(x)}; });
TALLY_FUNCTION(at_three, (line l), { return l.scale * 3 + l.shift; });
} // namespace random_axes

namespace {

using namespace properties;
using tally::_1;
using tally::_2;

/// What was folded, when the two places differ.
template <class Shape, class... Ts, class MakePipe, class MakeFolds>
finding check_places(dice& d, MakePipe const& make_pipe, MakeFolds const& folds) {
  random_source<Ts...> const s(d, Shape::rank);
  auto const constant = random_constant<std::tuple_element_t<0, std::tuple<Ts...>>>(d);
  return s.template with_columns<Shape::rank>([&](auto const&... columns) {
    auto const r = make_pipe(tally::from(columns...), constant) | tally::v0::unpack([](auto... f) { return Shape::over(f...); }, folds());
    bool const equal = same_arrays(tally::run(r, tally::on::cpu.threads(1)), tally::run(r, tally::on::gpu));
    return equal ? finding{} : tally::v0::text_of(r) + " [" + s.text() + "]";
  });
}

template <class Shape>
finding check_recipe(dice& d) {
  auto const plain = [](auto const& pipe, auto) { return pipe; };
  auto const above = [](auto const& pipe, auto c) { return pipe | tally::filter(_1 > c); };
  switch (d.below(5)) {
  case 0: return check_places<Shape, float>(d, plain, [] { return tally::v0::make_pack(tally::sum, tally::argmax); });
  case 1: return check_places<Shape, double, float>(d, above, [] { return tally::v0::make_pack(tally::sum(_1 * _2), tally::count, tally::min(_2)); });
  case 2: return check_places<Shape, tally::bf16>(d, plain, [] { return tally::v0::make_pack(tally::mean, tally::max); });
  case 3: return check_places<Shape, float>(d, above, [] { return tally::v0::make_pack(tally::variance); });
  default:
    return check_places<Shape, tally::i32>(d, plain, [] {
      return tally::v0::make_pack(tally::fold_of(random_axes::line{1, 0}, random_axes::then, random_axes::line_of, random_axes::at_three, tally::associative),
                              tally::sum);
    });
  }
}

finding run_one(u64 seed) {
  dice d(seed * 0x9e3779b97f4a7c15ull + 1);
  try {
    switch (d.below(4)) {
    case 0: return check_recipe<fold_away<2, 0>>(d);
    case 1: return check_recipe<fold_away<2, 1>>(d);
    case 2: return check_recipe<fold_away<3, 1>>(d);
    default: return check_recipe<fold_away<4, 1, 3>>(d);
    }
  } catch (std::exception const& e) {
    return std::string("threw ") + e.what();
  }
}

} // namespace

TEST_CASE("random pipelines along axes have the bits of the CPU") {
  if (no_kernels()) return;
  char const* const from = std::getenv("TALLY_SEED");
  char const* const wanted = std::getenv("TALLY_PIPELINES");
  u64 const begin = from != nullptr ? std::strtoull(from, nullptr, 10) : 0;
  u64 const end = begin + (wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 400);
  int wrong = 0;
  for (u64 seed = begin; seed < end && wrong < 20; ++seed) {
    if (finding const found = run_one(seed); !found.empty()) {
      ++wrong;
      FAIL_CHECK("TALLY_SEED=" << seed << " TALLY_PIPELINES=1 replays: " << found);
    }
    tally_test_progress();
  }
  CHECK(wrong == 0);
  std::printf("%llu random pipelines from %llu on, %d wrong\n", static_cast<unsigned long long>(end - begin),
              static_cast<unsigned long long>(begin), wrong);
}
