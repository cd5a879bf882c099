// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way of processors without AVX2 and FMA: element by element, to the bits of the vector loops. What is fused there is the C
// library's work.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

using namespace tally::v0;

namespace {
std::vector<float> numbers(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = float((i * 2654435761u) >> 7 & 0xffff) / 977.f - 20.f;
  return x;
}
template <class State>
bool same_state(State const& a, State const& b) {
  if constexpr (requires { a.position; }) // bytes between its members may be anything
    return a.value == b.value && a.position == b.position;
  else
    return std::memcmp(&a, &b, sizeof a) == 0;
}
template <class... States>
bool same(pack<States...> const& a, pack<States...> const& b) {
  bool all = true;
  for_each_index<int(sizeof...(States))>([&](auto i) { all = all && same_state(get<i>(a), get<i>(b)); });
  return all;
}
/// Whether the groups of a grouped pipeline have the same states by either way.
template <class R>
void check_groups(R const& r) {
  auto const d = get<0>(r.folds).bind(r.pipe);
  axes_layout const at = layout_of(d.program, r.pipe.source, std::remove_cvref_t<decltype(d.where)>::is_reduced);
  using States = typename std::remove_cvref_t<decltype(d.program)>::states;
  std::vector<States> plain(static_cast<std::size_t>(at.groups)), fast(plain.size());
  auto const into = [](std::vector<States>& out) {
    return [&out](i64 g, i64 n, auto const& states) {
      for (i64 k = 0; k < n; ++k)
        out[static_cast<std::size_t>(g + k)] = states[k];
    };
  };
  cpu::detail::fold_groups_plainly(d.program, at, (at.extent - 1) / shape_of<std::remove_cvref_t<decltype(d.program)>>.elements() + 1, 2, into(plain));
  cpu::fold_groups(d.program, at, 2, into(fast));
  for (std::size_t g = 0; g < plain.size(); ++g)
    CHECK(same(plain[g], fast[g]));
}
} // namespace

TEST_CASE("tiles that are folded element by element have the bits of those in vector registers") {
  for (std::size_t const n : {1u, 100u, 1024u, 5000u, 65536u, 70001u}) {
    auto const x = numbers(n);
    auto const p = tally::v0::bind(from(x) | filter(_1 > -10.f) | reduce(sum, max, variance, argmin, sum(_1 * _1), sum(exp(_1)), logsumexp, sum(tanh(_1)))).program;
    i64 const leaves = (i64(n) - 1) / shape_of<decltype(p)>.elements() + 1;
    auto plain = p.identity();
    cpu::detail::fold_plainly(p, p, p.extent, 0, leaves, plain);
    CHECK(same(plain, cpu::fold_subtree(p, 0, leaves)));
  }
}

TEST_CASE("so have groups, however their elements lie") {
  for (i64 const n : {1, 7, 33, 129, 1500}) {
    CAPTURE(n);
    auto const x = numbers(static_cast<std::size_t>(37 * n * 2));
    auto const check = [](auto const& source) {
      check_groups(source | over<1>(sum, max));
      check_groups(source | over<1>(sum(_1 * _1), variance, argmin));
      check_groups(source | filter(_1 > 0.f) | over<1>(sum, count, sum(exp(_1))));
    };
    check(from(shaped(x.data(), 37, n)));                     // elements are neighbours
    check(from(shaped(x.data(), {37, n}, {i64(1), i64(37)}))); // groups are
    check(from(shaped(x.data(), {37, n}, {2 * n, i64(2)})));   // neither
  }
}

TEST_CASE("so have few long groups that are copied, and those that cannot be") {
  i64 const n = 3000;
  auto const x = numbers(5 * n * 2);
  auto const few_columns = from(shaped(x.data(), n, 5));
  check_groups(few_columns | over<0>(sum(_1 * _1), max, argmin, logsumexp));
  check_groups(few_columns | filter(_1 > 0.f) | over<0>(sum, count));
  check_groups(few_columns | over<0>(sum(_1 * cast<float>(tally::index))));
  check_groups(from(shaped(x.data(), {n, 5}, {i64(10), i64(2)})) | over<0>(sum(_1 * _1)));
  check_groups(from(shaped(x.data(), n, 5), shaped(iota(5 * n), n, 5)) | over<0>(sum(_1 * cast<float>(_2))));
}
