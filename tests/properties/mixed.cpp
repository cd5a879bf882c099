// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random pipelines with several groupings and folds of the whole source in one reduce; and segments between random offsets.
// Test layer.
#include "recipe.hpp"

namespace {
using namespace tally;
using namespace properties;

template <class T, class Mask, class Folds>
using plain = recipe<group<T>, Mask, Folds, no_loop, order_kept>;
constexpr auto above = [](auto c) { return _1 > c; };
constexpr auto sums = [] { return make_pack(sum, mean); };
constexpr auto places = [] { return make_pack(max, argmin); };

/// Two groupings, a sum and a count of the whole.
template <class First, class Second, class T, class Mask>
finding check_mixed(dice& d) {
  random_source<T> const s(d, First::rank);
  auto const constant = random_constant<T>(d);
  int const threads = random_threads(d);
  using of_first = plain<T, Mask, decltype(sums)>;
  using of_second = plain<T, Mask, decltype(places)>;
  constexpr auto whole = [] { return make_pack(sum, count); };
  auto const [first_answers, total, second_answers, n] = s.template with_columns<First::rank>([&](auto const& column) {
    return run(of_first::masked(from(column), constant) | reduce(First::over(sum, mean), sum, Second::over(max, argmin), count),
               on::cpu.threads(threads));
  });
  finding f = compare_groups<of_first>(d, s, First::axes, constant, beginnings(first_answers));
  if (f.empty())
    f = compare_groups<of_second>(d, s, Second::axes, constant, beginnings(second_answers));
  if (f.empty())
    f = compare_groups<plain<T, Mask, decltype(whole)>>(d, s, {First::rank, (u32(1) << First::rank) - 1}, constant, std::tuple(&total, &n));
  return told(f, s, threads, constant);
}
template <class First, class Second, class T, class Mask>
bool add_mixed(char const* name, Mask) {
  checks().push_back({name, First::axes.name() + " beside " + Second::axes.name(), &check_mixed<First, Second, T, Mask>});
  return true;
}

/// Offsets that never fall, with empty segments and long ones.
template <class Offset>
std::vector<Offset> random_offsets(dice& d, i64 n) {
  std::vector<i64> cuts;
  for (i64 k = d.below(d.percent(80) ? 12 : 300); k >= 0; --k)
    cuts.push_back(d.percent(10) && !cuts.empty() ? cuts.back() : d.below(n + 1));
  std::sort(cuts.begin(), cuts.end());
  return {cuts.begin(), cuts.end()};
}
template <class Offset, class T, class Mask>
finding check_segments(dice& d) {
  random_source<T> const s(d, 1);
  auto const constant = random_constant<T>(d);
  int const threads = random_threads(d);
  auto const offsets = random_offsets<Offset>(d, s.shape.of[0]);
  using of_sums = plain<T, Mask, decltype(sums)>;
  using of_places = plain<T, Mask, decltype(places)>;
  i64 const stride = s.lies[0].strides[0] == 0 ? 1 : s.lies[0].strides[0]; // a stride of 0 is refused where there is one axis
  i64 const first = s.lies[0].strides[0] == 0 ? 0 : s.lies[0].first;
  auto const [sums_of, whole, places_of] =
      run(of_sums::masked(from(every(pool<T>().data() + first, s.shape.of[0], stride)), constant) |
              reduce(by_segment(offsets, sum, mean), over<0>(sum), by_segment(offsets, max, argmin)),
          on::cpu.threads(threads));
  static_cast<void>(whole);
  finding f;
  for (std::size_t k = 0; k + 1 < offsets.size() && f.empty(); ++k) {
    group<T> alone;
    for (auto i = static_cast<i64>(offsets[k]); i < static_cast<i64>(offsets[k + 1]); ++i) {
      std::get<0>(alone.columns).push_back(pool<T>()[static_cast<std::size_t>(first + i * stride)]);
      alone.positions.push_back(i);
      if (of_sums::passes(constant, std::get<0>(alone.columns).back()))
        alone.passed.push_back(i - static_cast<i64>(offsets[k]));
    }
    f = of_sums::compare(d, std::tuple(std::get<0>(sums_of)[k], std::get<1>(sums_of)[k]), alone, constant) +
        of_places::compare(d, std::tuple(std::get<0>(places_of)[k], std::get<1>(places_of)[k]), alone, constant);
    if (!f.empty())
      f = "segment " + std::to_string(k) + " from " + std::to_string(offsets[k]) + " to " + std::to_string(offsets[k + 1]) + ": " + f;
  }
  return told(f, s, threads, constant);
}
template <class Offset, class T, class Mask>
bool add_segments(char const* name, Mask) {
  checks().push_back({name, "by_segment", &check_segments<Offset, T, Mask>});
  return true;
}

[[maybe_unused]] bool const registered[] = {
    add_mixed<fold_away<2, 0>, fold_away<2, 1>, float>("rows, columns, total of f32", unmasked),
    add_mixed<fold_away<3, 0, 2>, fold_away<3, 1>, float>("axes of a cube of f32", above),
    add_mixed<fold_away<4, 1, 2>, fold_away<4, 0, 1, 3>, double>("axes of rank 4 of f64", unmasked),
    add_segments<int, float>("segments of f32", unmasked),
    add_segments<long long, float>("masked segments of f32", above),
    add_segments<unsigned, i32>("segments of i32", unmasked),
};
} // namespace
