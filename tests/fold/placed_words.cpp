// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values and their places as words: the better state is the greater word, and nothing is lost.
#include <tally/fold/placed_words.hpp>
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace tally::v0;

namespace {
constexpr i64 positions[] = {-1, 0, 1, 77, (i64(1) << 31) - 1, i64(1) << 31, (i64(1) << 32) - 2};

template <class M>
void check(std::vector<typename M::state> const& states) {
  using word = detail::placed_word<M>;
  M const m{};
  for (auto const& a : states) {
    CHECK(word::back(word::of(a)) == a);
    CHECK(detail::placed_of<decltype(a.value)>(detail::pair_of(a)) == a);
    for (auto const& b : states)
      if (a.position != b.position || word::of(a) == word::of(b)) // one element is at one place
        CHECK(word::of(m.combine(a, b)) == std::max(word::of(a), word::of(b)));
  }
}
template <class T>
void check_places(std::vector<T> const& values) {
  auto const states_of = [&]<class M>(M const& m) {
    std::vector<typename M::state> out{m.identity()};
    for (T const v : values)
      for (i64 const p : positions)
        if (p >= 0) out.push_back(m.lift(p, v));
    check<M>(out);
  };
  states_of(arg_monoid<T, true>{});
  states_of(arg_monoid<T, false>{});
  states_of(end_monoid<T, true>{});
  states_of(end_monoid<T, false>{});
}
} // namespace

TEST_CASE("values and their places in one word: integers and floats of up to 32 bits, with NaN and the ends of their range") {
  check_places<i32>({std::numeric_limits<i32>::min(), -1, 0, 5, std::numeric_limits<i32>::max()});
  check_places<u32>({0, 1, 1u << 31, ~0u});
  check_places<i8>({-128, -1, 0, 127});
  check_places<u8>({0, 255});
  check_places<bool>({false, true});
  check_places<float>({-std::numeric_limits<float>::infinity(), -0.f, 0.f, 1e-45f, 3e38f, std::numeric_limits<float>::infinity()});
  arg_monoid<float, false> const greatest{};
  float const not_a_number = std::numeric_limits<float>::quiet_NaN();
  check<arg_monoid<float, false>>({greatest.lift(3, not_a_number), greatest.lift(2, -not_a_number), greatest.lift(1, 5.f), greatest.identity()});
  check<arg_monoid<bf16, true>>({arg_monoid<bf16, true>{}.lift(3, bf16(not_a_number)), arg_monoid<bf16, true>{}.lift(1, bf16(5.f))});
}

TEST_CASE("a value of 64 bits and its place are two words") {
  static_assert(!detail::placed_word<arg_monoid<double, true>>::fits && !detail::placed_word<end_monoid<i64, true>>::fits);
  static_assert(cell_of<arg_monoid<double, true>>::bytes == 16 && own_cell_bytes<arg_monoid<float, true>, true> == 8 && own_cell_bytes<arg_monoid<float, true>, false> == 16);
  struct two_doubles { double a, b; };
  static_assert(cell_of<end_monoid<two_doubles, true>>::kind == cell_kind::locked);
  for (i64 const p : positions)
    for (i64 const v : {std::numeric_limits<i64>::min(), i64(-1), i64(7)})
      CHECK(detail::placed_of<i64>(detail::pair_of(placed<i64>{v, p})) == placed<i64>{v, p});
}
