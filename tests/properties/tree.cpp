// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The canonical tree as it is written down (fold/tree.hpp), walked by plain loops over monoids: run follows it for every extent
// around rows, lanes and leaves, whatever registers it uses. Test layer.
#include <tally/tally.hpp>
#include <tally/testing_exact.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace tally::v0;

/// The state of n elements along the tree: lanes down the rows of a leaf, lanes as neighbours, leaves as neighbours.
template <class Program, class Leaf>
typename Leaf::state along_the_tree(Program const& p, Leaf const& leaf) {
  constexpr leaf_shape shape = shape_of<Program>;
  auto const combine = [&](auto const& a, auto const& b) { return leaf.monoid.combine(a, b); };
  std::vector<typename Leaf::state> leaves;
  for (i64 first = 0; first < p.extent; first += shape.elements()) {
    std::vector<typename Leaf::state> lanes;
    for (int l = 0; l < shape.lanes(); ++l) {
      lanes_t<typename Leaf::monoid_type, 1> running(leaf.monoid);
      for (int r = 0; r < shape.rows; ++r)
        if (i64 const e = first + r * shape.lanes() + l; e < p.extent) {
          auto const row = p.row_at(e);
          if (leaf.mask.eval(row))
            leaf.step(running, 0, true, row);
        }
      lanes.push_back(running.close(leaf.monoid, 0));
    }
    combine_neighbours(combine, lanes.data(), shape.lanes());
    leaves.push_back(lanes[0]);
  }
  combine_neighbours(combine, leaves.data(), static_cast<i64>(leaves.size()));
  return leaves[0];
}
template <class T, class Fold>
void follows(std::vector<T> const& all, Fold const& fold) {
  i64 wrong = 0, first_wrong = 0;
  for (i64 n = 1; n <= static_cast<i64>(all.size()); n += n < 2300 ? 1 : 977) {
    auto const r = device(all.data() + n % 7, n - n % 7) | fold;
    if (n - n % 7 == 0)
      continue;
    auto const bound = tally::v0::bind(r);
    using State = typename std::remove_cvref_t<decltype(get<0>(bound.program.leaves))>::state;
    State const expected = along_the_tree(bound.program, get<0>(bound.program.leaves));
    auto const by_loop = tally::v0::detail::answers_of(r, bound, pack<State>{expected, {}});
    if (!testing::same_bits(by_loop, run(r, on::cpu.threads(2))) && wrong++ == 0)
      first_wrong = n;
  }
  CAPTURE(first_wrong);
  CHECK(wrong == 0);
}
template <class T>
std::vector<T> rough(std::size_t n) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = static_cast<T>(static_cast<double>((i * 2654435761u) >> 8 & 0xffff) / 977. - 11.);
  return x;
}

} // namespace

TEST_CASE("run follows the canonical tree: sums of floats") {
  follows(rough<float>(9000), sum);
  follows(rough<double>(6000), sum);
  follows(rough<float>(6000), sum.compensated());
  follows(rough<float>(6000), sum.where(_1 > 3.f));
  follows(rough<float>(6000), sum(_1 * 0.3f));
}

TEST_CASE("run follows the canonical tree: variance, least and greatest") {
  follows(rough<float>(6000), variance);
  follows(rough<float>(6000), variance.where(_1 > 3.f));
  follows(rough<float>(6000), max);
  follows(rough<i32>(6000), min.where(_1 > 2).or_else(-1));
  follows(rough<float>(6000), argmin);
}
