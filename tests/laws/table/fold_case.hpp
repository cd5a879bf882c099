// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of folds: every built-in fold over every element type, masked and not, and folds of a user's own, as cases
// behind one door, so that they are instantiated once and serve the tests of the CPU and of GPUs.
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/run/on.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace fold_table {

using tally::v0::i64;
using tally::v0::u64;

/// All answers of one run: their bits, and as what number they may be compared within a tolerance.
struct answers {
  std::vector<u64> bits;
  std::vector<double> values;
};

/// Some folds in one read of a column of one type.
class fold_case {
public:
  virtual ~fold_case() = default;
  std::string name;     ///< "f32 tree"
  std::string contents; ///< the pipeline, as tally prints it
  int element_bytes = 0;
  bool counts_only = false; ///< all answers are integers or elements: no rounding
  /// Numbers of very different size and both signs that are the same on every machine.
  virtual std::vector<std::byte> numbers(i64 n) const = 0;
  /// n elements that are `other`, with `special` at one place; both by their names below, floats only.
  virtual std::vector<std::byte> specials(i64 n, i64 at, int special, int other) const = 0;
  virtual answers on_cpu(void const* data, i64 n, int threads) const = 0;
  virtual answers on_gpu(void const* data, i64 n, tally::v0::contract c = tally::v0::contract::reproducible,
                         void* stream = nullptr) const = 0;
  /// The kernel for such a run on a target, to be compiled where there is no GPU.
  virtual tally::v0::gpu::unit unit(i64 n, int alignment, tally::v0::target const& t, tally::v0::contract c) const = 0;
};

/// What specials() puts at one place, and around it.
inline constexpr int special_count = 6; ///< NaN, negative NaN, infinity, -infinity, -0, smallest denormal
inline constexpr int other_count = 3;   ///< 0, 1, -infinity

using case_list = std::vector<std::unique_ptr<fold_case>>;

/// Every case, in the order of the files.
case_list const& all_cases();
/// The case of that name.
fold_case const& case_named(std::string const& name);

} // namespace fold_table
