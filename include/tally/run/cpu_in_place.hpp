// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds that read numbers where they lie, without a mask, in vector registers: which they are, and what rows and columns of
// them share. Layer 5, host only.
#pragma once

#include <tally/fold/groups.hpp>
#include <tally/run/cpu_fold.hpp>
#include <tally/run/cpu_strips.hpp>
#include <tally/run/heap_array.hpp>

namespace tally::v0::cpu {

namespace detail {

/// What a leaf reads in place, in registers and without a mask.
template <class Columns, class Leaf>
struct read_in_place {
  static constexpr int column = -1;
};
template <class... Columns, has_group_form M, int I>
  requires memory_column<nth_t<I, Columns...>> && reads_as<typename nth_t<I, Columns...>::value_type, typename vector_form<M>::number>
struct read_in_place<pack<Columns...>, bound<M, pack<placeholder<I>>, always>> {
  static constexpr int column = M::law.commutative ? I : -1;
};
template <class Columns, class Leaf>
inline constexpr bool folds_in_place = [] {
  if constexpr (read_in_place<Columns, Leaf>::column >= 0) {
    constexpr int n = strip_form<typename Leaf::monoid_type, false>::width;
    return n == 4 || n == 8;
  } else {
    return false;
  }
}();
/// Whether all folds of a program can be folded in registers where the numbers lie.
template <class Program>
inline constexpr bool all_in_place = false;
template <class Columns, class First, class... Leaves>
inline constexpr bool all_in_place<program<Columns, First, Leaves...>> = folds_in_place<Columns, First> && (true && ... && folds_in_place<Columns, Leaves>);

/// One row's numbers into a register of lanes.
template <class Form>
TALLY_INLINE void step_all(typename Form::block& b, typename Form::vector const& x) {
  if constexpr (Form::counts || !requires { b.step(x); })
    b.step(x, typename Form::mask{} - 1);
  else
    b.step(x);
}
/// Register by register: g++ copies a struct in pieces of 16 bytes, and then waits for them when it loads 32.
template <class Form>
TALLY_INLINE void copy_registers(typename Form::block& to, typename Form::block const& from) {
  using vector = typename Form::vector;
#pragma GCC unroll 8
  for (std::size_t q = 0; q < sizeof to; q += sizeof(vector)) {
    vector v;
    std::memcpy(&v, reinterpret_cast<char const*>(&from) + q, sizeof v);
    std::memcpy(reinterpret_cast<char*>(&to) + q, &v, sizeof v);
  }
}
/// The states of the first `count` lanes.
template <class Form, class State>
TALLY_INLINE void put_states(typename Form::block const& b, int count, State* out) {
  if constexpr (sizeof(typename Form::block) == sizeof(typename Form::vector) && sizeof(State) == sizeof(typename Form::number))
    if (count == Form::width) {
      std::memcpy(out, &b, sizeof b);
      return;
    }
  for (int j = 0; j < count; ++j) out[j] = b.state(j, 0);
}

/// States of neighbouring groups, every fold's in an array of its own.
template <class... States>
class states_apart {
public:
  explicit states_apart(i64 groups) {
    for_each_index<int(sizeof...(States))>([&](auto i) { get<i>(of_) = heap_array<nth_t<i, States...>>(static_cast<std::size_t>(groups)); });
  }
  template <int I>
  auto* of() const {
    return get<I>(of_).data();
  }
  TALLY_INLINE pack<States...> operator[](i64 k) const {
    return unpack([&](auto const&... s) TALLY_INLINE_LAMBDA { return make_pack(s[static_cast<std::size_t>(k)]...); }, of_);
  }

private:
  pack<heap_array<States>...> of_{};
};

} // namespace detail

} // namespace tally::v0::cpu
