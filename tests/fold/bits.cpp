// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folds bit_and, bit_or and bit_xor.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <vector>

using namespace tally;

namespace {
/// All three, against a plain loop.
template <class T>
void check_bits() {
  std::vector<T> x(5003);
  T both = static_cast<T>(~T(0)), either = 0, odd = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>((static_cast<u64>(i) * 0x9e3779b97f4a7c15u) >> 9 | 64u);
    both = static_cast<T>(both & x[i]), either = static_cast<T>(either | x[i]), odd = static_cast<T>(odd ^ x[i]);
  }
  auto const found = run(from(x) | reduce(bit_and, bit_or, bit_xor));
  static_assert(std::is_same_v<decltype(found), std::tuple<T, T, T> const>);
  CHECK((found == std::tuple(both, either, odd)));
}
} // namespace

TEST_CASE("the bits of all, of any and of an odd number of elements, in the element's type") {
  check_bits<i8>();
  check_bits<u16>();
  check_bits<i32>();
  check_bits<u64>();
}

TEST_CASE("of nothing, bit_and has all bits and the others none") {
  std::vector<u8> const nothing;
  CHECK((run(from(nothing) | reduce(bit_and, bit_or, bit_xor)) == std::tuple(u8(255), u8(0), u8(0))));
  std::vector<i32> const x{7};
  CHECK((run(from(x) | filter(_1 > 9) | reduce(bit_and, bit_or, bit_xor)) == std::tuple(-1, 0, 0)));
}

TEST_CASE("an expression and a condition may stand before the fold") {
  std::vector<u32> const x{1, 2, 4, 8};
  CHECK((run(from(x) | reduce(bit_or.where(_1 != 4u), bit_xor(_1 * 3))) == std::tuple(11u, u64(3 ^ 6 ^ 12 ^ 24))));
}
