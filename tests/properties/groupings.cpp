// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random pipelines with segments, keys that are known and not, histograms, and lets of these: every group against `run` of its elements alone. Sums
// of floats by key round once, so theirs is asked for under exact. Test layer.
#include "recipe.hpp"

#include <cstring>
#include <map>

namespace {
using namespace tally::v0;
using namespace properties;

/// A piece of a pool behind the mask `_1 >= least`, and the threads that fold it.
template <class T>
struct random_column {
  std::vector<T> x;
  T least;
  int threads;
  explicit random_column(dice& d) : threads(random_threads(d)) {
    i64 const n = d.percent(3) ? 0 : d.below(d.percent(85) ? 700 : 20000), first = d.below(pool_size - n);
    x.assign(pool<T>().begin() + first, pool<T>().begin() + first + n);
    least = d.percent(40) ? std::numeric_limits<T>::lowest() : random_constant<T>(d);
  }
  std::string text() const { return std::to_string(x.size()) + " elements, " + std::to_string(threads) + " threads, least " + bytes_of(least); }
};

/// The answers of folds over the elements of one group.
template <class T, class Folds, class... Contract>
auto alone(std::vector<T> const& x, T least, Folds const& folds, Contract... c) {
  return unpack([&](auto const&... f) { return as_tuple(run(from(x) | filter(_1 >= least) | reduce(f...), on::cpu.threads(1), c...)); }, folds);
}
/// Answer g of every array from the First-th on.
template <int First, class Arrays>
auto answers_at(Arrays const& arrays, i64 g) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::make_tuple(answer_at(std::get<I + First>(arrays), g)...);
  }(std::make_index_sequence<std::tuple_size_v<Arrays> - First>{});
}
/// What differs between the answers of a grouping and those of its groups, members_of(g), alone.
template <int First, class Arrays, class MembersOf, class T, class Folds, class... Contract>
finding compare(dice& d, Arrays const& arrays, i64 groups, MembersOf const& members_of, random_column<T> const& of, Folds const& folds, Contract... c) {
  for (i64 g = 0; g < groups; g = next_group(d, g, groups)) {
    std::vector<T> const& members = members_of(g);
    auto const got = answers_at<First>(arrays, g), wanted = alone(members, of.least, folds, c...);
    if (!same(got, wanted))
      return "group " + std::to_string(g) + " of " + std::to_string(groups) + " with " + std::to_string(members.size()) + " elements: " +
             bytes_of(got) + "is not " + bytes_of(wanted) + "[" + of.text() + "]";
  }
  return {};
}

template <class T, class Folds>
finding check_segments(dice& d) {
  random_column<T> const of(d);
  auto const n = static_cast<i64>(of.x.size());
  std::vector<i64> cuts(static_cast<std::size_t>(1 + d.below(d.percent(50) ? 8 : 300)));
  for (i64& c : cuts)
    c = d.percent(30) ? cuts[0] : d.below(n + 1);
  std::sort(cuts.begin(), cuts.end());
  auto const folds = Folds{}();
  auto const arrays = unpack(
      [&](auto const&... f) { return as_tuple(run(from(of.x) | filter(_1 >= of.least) | by_segment(cuts, f...), on::cpu.threads(of.threads))); }, folds);
  return compare<0>(
      d, arrays, static_cast<i64>(cuts.size()) - 1,
      [&](i64 g) { return std::vector<T>(of.x.begin() + cuts[std::size_t(g)], of.x.begin() + cuts[std::size_t(g) + 1]); }, of, folds);
}

/// A key for every element: spread evenly, leaning to the first, or nearly all the same.
template <class K>
std::vector<K> random_keys(dice& d, std::size_t n, i64 bins) {
  int const kind = int(d.below(3));
  i64 const hot = d.below(bins);
  std::vector<K> keys(n);
  for (K& k : keys)
    k = static_cast<K>(kind == 0 ? d.below(bins) : kind == 1 ? d.below(d.below(bins) + 1) : d.percent(95) ? hot : d.below(bins));
  return keys;
}
template <class K, class T>
auto members_by_key(random_column<T> const& of, std::vector<K> const& keys) {
  std::map<K, std::vector<T>> members;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (of.x[i] >= of.least)
      members[keys[i]].push_back(of.x[i]);
  return members;
}

template <class T, class K, class Folds, class... Alone>
finding check_keys(dice& d) {
  static constexpr i64 sizes[] = {1, 2, 7, 64, 127, 1000, 5000};
  random_column<T> const of(d);
  i64 const bins = std::min(sizes[d.below(std::size(sizes))], i64(std::numeric_limits<K>::max()));
  auto const keys = random_keys<K>(d, of.x.size(), bins);
  auto members = members_by_key(of, keys);
  auto const folds = Folds{}();
  auto const arrays = unpack(
      [&](auto const&... f) { return as_tuple(run(from(of.x, keys) | filter(_1 >= of.least) | by_key(_2, bins, f...), on::cpu.threads(of.threads))); }, folds);
  return compare<0>(d, arrays, bins, [&](i64 g) -> auto& { return members[static_cast<K>(g)]; }, of, folds, Alone{}...);
}

template <class T, class K, class Folds, class... Alone>
finding check_found_keys(dice& d) {
  random_column<T> const of(d);
  auto keys = random_keys<K>(d, of.x.size(), 1 + d.below(3000));
  for (K& k : keys)
    k = static_cast<K>(static_cast<u64>(k) * 0x9e3779b97f4a7c15u); // all over the type
  auto const members = members_by_key(of, keys);
  auto const folds = Folds{}();
  auto const found = unpack(
      [&](auto const&... f) { return run(from(of.x, keys) | filter(_1 >= of.least) | group_by(_2, f...), on::cpu.threads(of.threads)); }, folds);
  auto const& met = std::get<0>(found);
  if (met.size() != members.size() ||
      !std::equal(met.begin(), met.end(), members.begin(), [](K k, auto const& m) { return k == m.first; }))
    return "the keys that were met are not those that there are [" + of.text() + "]";
  return compare<1>(d, found, static_cast<i64>(met.size()), [&](i64 g) -> auto& { return members.at(met[std::size_t(g)]); }, of, folds, Alone{}...);
}

template <class T, class Folds>
finding check_histogram(dice& d) {
  random_column<T> const of(d);
  double const low = static_cast<double>(d.below(9)) - 6, high = low + static_cast<double>(1 + d.below(40)) / 8;
  i64 const bins = 1 + d.below(d.percent(70) ? 40 : 900);
  auto const step = (high - low) / static_cast<double>(bins);
  std::vector<std::vector<T>> members(static_cast<std::size_t>(bins));
  for (T const v : of.x) {
    auto const at = static_cast<double>(v);
    if (!(v >= of.least && at >= low && at <= high))
      continue;
    i64 k = bins - 1;
    while (k > 0 && at < low + static_cast<double>(k) * step)
      --k;
    members[std::size_t(k)].push_back(v);
  }
  auto const folds = Folds{}();
  auto const arrays = unpack(
      [&](auto const&... f) { return as_tuple(run(from(of.x) | filter(_1 >= of.least) | histogram(low, high, bins, f...), on::cpu.threads(of.threads))); }, folds);
  return compare<0>(d, arrays, bins, [&](i64 g) -> auto& { return members[std::size_t(g)]; }, of, folds, exact);
}

/// Elements beside the answers of their segment and of their key, as lets and as columns of answers that were run before.
template <class T, class K>
finding check_lets(dice& d) {
  random_column<T> const of(d);
  auto const n = static_cast<i64>(of.x.size());
  std::vector<i64> cuts{0, n};
  for (i64 more = d.below(d.percent(50) ? 8 : 300); more > 0; --more)
    cuts.push_back(d.percent(30) ? cuts.back() : d.below(n + 1));
  std::sort(cuts.begin(), cuts.end());
  i64 const bins = 1 + d.below(d.percent(50) ? 5 : 127);
  auto const keys = random_keys<K>(d, of.x.size(), bins);
  auto const source = from(of.x, keys);
  auto const of_segment = from(of.x) | filter(_1 >= of.least) | by_segment(cuts, sum(_1));
  auto const of_key = source | filter(_1 >= of.least) | by_key(_2, bins, max(_1).or_else(T(3)));
  auto const segments = run(of_segment);
  auto const tops = run(of_key);
  std::vector<std::remove_cvref_t<decltype(segments[0])>> segment_of;
  for (std::size_t s = 0; s + 1 < cuts.size(); ++s)
    segment_of.insert(segment_of.end(), std::size_t(cuts[s + 1] - cuts[s]), segments[s]);
  std::vector<T> top_of;
  for (K const k : keys)
    top_of.push_back(tops[std::size_t(k)]);
  auto const beside = from(of.x, keys, segment_of, top_of);
  auto const where = on::cpu.threads(of.threads);
  auto const alike = [](auto const& a, auto const& b) {
    return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), std::size_t(a.size()) * sizeof(a[0])) == 0);
  };
  auto const [less, most] = run(source | map(_1 - let(of_segment), let(of_key)) | collect, where);
  auto const [less_before, most_before] = run(beside | map(_1 - _3, _4) | collect);
  if (!alike(less, less_before) || !alike(most, most_before))
    return "elements beside lets are not those beside their answers [" + of.text() + "]";
  auto const whole = run(source | sum(_1 - let(of_segment)), where);
  auto const whole_before = run(from(of.x, segment_of) | sum(_1 - _2));
  auto const again = run(source | by_segment(cuts, max(_1 - let(of_segment)).or_else(0), count_if(_1 < let(of_key))), where);
  auto const again_before = run(beside | by_segment(cuts, max(_1 - _3).or_else(0), count_if(_1 < _4)));
  if (!same(whole, whole_before) || !alike(std::get<0>(again), std::get<0>(again_before)) || !alike(std::get<1>(again), std::get<1>(again_before)))
    return "folds beside lets are not those beside their answers [" + of.text() + "]";
  return {};
}

constexpr auto of_any_order = [] { return make_pack(sum(_1), count, max(_1).or_else(3)); };
constexpr auto of_expressions = [] { return make_pack(argmax(_1 * 2).or_else(-1), sum(_1 + 1), last(_1 - 1).or_else(2), first(-_1).or_else(4), argmin(_1 * 3).or_else(-2)); };
constexpr auto means = [] { return make_pack(mean(_1).or_else(1), min(_1).or_else(2)); };
constexpr auto in_order = [] { return make_pack(logsumexp(_1), first(_1).or_else(5)); };
constexpr auto on_the_tree = [] { return make_pack(sum(_1), variance(_1).or_else(1), max(_1).or_else(3), last(_1).or_else(2)); };
using any_order = decltype(of_any_order);

[[maybe_unused]] bool const registered = [] {
  for (named_check const& c : {
           named_check{"sum, variance, max and last of f32", "by_segment", &check_segments<float, decltype(on_the_tree)>},
           named_check{"sum, count and max of i32", "by_segment", &check_segments<i32, any_order>},
           named_check{"positions and ends of expressions of f32", "by_segment", &check_segments<float, decltype(of_expressions)>},
           named_check{"positions and ends of expressions of f64", "by_segment", &check_segments<double, decltype(of_expressions)>},
           named_check{"sum, count and max of f32", "by_key of u16", &check_keys<float, std::uint16_t, any_order, exact_contract>},
           named_check{"sum, count and max of f64", "by_key of i32", &check_keys<double, i32, any_order, exact_contract>},
           named_check{"sum, count and max of i32", "by_key of i8", &check_keys<i32, std::int8_t, any_order>},
           named_check{"mean and min of f32", "by_key of i64", &check_keys<float, i64, decltype(means), exact_contract>},
           named_check{"logsumexp and first of f32", "by_key of i32", &check_keys<float, i32, decltype(in_order)>},
           named_check{"sum, count and max of f32", "group_by of i64", &check_found_keys<float, i64, any_order, exact_contract>},
           named_check{"sum, count and max of i32", "group_by of u32", &check_found_keys<i32, u32, any_order>},
           named_check{"sum, count and max of f32", "histogram", &check_histogram<float, any_order>},
           named_check{"sum, count and max of f64", "histogram", &check_histogram<double, any_order>},
           named_check{"elements of f32", "let of segments and keys of i8", &check_lets<float, std::int8_t>},
           named_check{"elements of i32", "let of segments and keys of i64", &check_lets<i32, i64>},
       })
    checks().push_back(c);
  return true;
}();
} // namespace
