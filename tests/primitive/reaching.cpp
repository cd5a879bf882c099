// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipelines and the parts of primitive/ whose PTX the page of instructions looks into.
#include "primitive/reaching.hpp"

#include "primitive/device_unit.hpp"
#include "primitive/form_of.hpp"

#include <tally/tally.hpp>

#include <cstdint>

TALLY_STRUCT(reaching_affine, { float scale, shift; });
TALLY_FUNCTION(reaching_then, (reaching_affine a, reaching_affine b), {
  return reaching_affine{a.scale * b.scale, a.shift * b.scale + b.shift};
});
TALLY_FUNCTION(reaching_step, (float x), { return reaching_affine{0.5f, x}; });
TALLY_FUNCTION(reaching_shift, (reaching_affine a), { return a.shift; });

namespace reaching {

namespace {

using namespace tally;

constexpr i64 many = i64(1) << 24;

template <class T>
auto numbers(std::uintptr_t remainder = 0) {
  return device(reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000) + remainder), many);
}

auto recurrence() { return fold_of(reaching_affine{1, 0}, reaching_then, reaching_step, reaching_shift, associative); }

/// A pipeline by the text a reader knows it by.
template <class Reduction, class... Options>
user pipeline(char const* text, Reduction const& r, Options... options) {
  auto const explained = explain(r, options...);
  user u{text, true, form_of::read_all(explained.ptx()), {}};
  auto const& p = explained.details().planned.plan;
  for (auto const& fold : p.folds) {
    char const* const names[]{"", "BLOCK_REDUCE_WARP_REDUCTIONS", "BLOCK_REDUCE_RAKING",
                              "BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY"};
    if (fold.block != block_algorithm::neighbour_tree) u.blocks.push_back(names[int(fold.block)]);
  }
  return u;
}

} // namespace

std::vector<user> const& users() {
  static std::vector<user> const all = [] {
    std::vector<user> found;
    found.push_back(pipeline("`from(x) | reduce(variance, min)` of f64",
                             from(numbers<double>()) | reduce(variance, min), targets::h200));
    found.push_back(pipeline("`run(from(x) | sum, fast)` of f32", from(numbers<float>()) | sum, targets::h200, fast));
    found.push_back(
        pipeline("`run(from(x) | variance, fast)` of f64", from(numbers<double>()) | variance, targets::h200, fast));
    found.push_back(pipeline("`run(from(x) | recurrence, fast)`, a fold that does not commute",
                             from(numbers<float>()) | recurrence(), targets::h200, fast));
    return found;
  }();
  return all;
}

} // namespace reaching
