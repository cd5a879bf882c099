// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes of random pipelines, and the list of them. A recipe fixes the types (elements, mask, folds); the dice fix shapes,
// strides, data, the constant in the mask, threads and axes. Every group is compared, bit for bit, with `run` of its gathered
// elements alone, and with plain loops where those are exact. Test layer.
#pragma once

#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include "random.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <tuple>

namespace properties {

/// What a check says: nothing when all was right.
using finding = std::string;
using check = finding (*)(dice&);

/// All checks there are, in every file of this folder.
struct named_check {
  char const* recipe;
  std::string axes;
  check run;
};
inline std::vector<named_check>& checks() {
  static std::vector<named_check> all;
  return all;
}

/// Which axes of how many are folded away.
struct folded_axes {
  int rank;
  u32 reduced;
  u32 kept() const { return ((u32(1) << rank) - 1) & ~reduced; }
  std::string name() const {
    std::string s;
    for (int k = 0; k < rank; ++k)
      if ((reduced >> k & 1) != 0)
        s += (s.empty() ? "over<" : ", ") + std::to_string(k);
    return s + "> of rank " + std::to_string(rank);
  }
};
/// The same, known when the pipeline is compiled.
template <int Rank, int... Axes>
struct fold_away {
  static constexpr int rank = Rank;
  static constexpr folded_axes axes{Rank, (u32(0) | ... | (u32(1) << Axes))};
  template <class... Folds>
  static auto over(Folds... folds) {
    return tally::over<Axes...>(folds...);
  }
};
template <class... Shapes>
struct shapes {};
using every_shape = shapes<fold_away<1, 0>, fold_away<2, 0>, fold_away<2, 1>, fold_away<2, 0, 1>, fold_away<3, 0>, fold_away<3, 1>,
                           fold_away<3, 0, 2>, fold_away<3, 1, 2>, fold_away<4, 3>, fold_away<4, 0, 2>, fold_away<4, 1, 3>,
                           fold_away<5, 2>, fold_away<5, 0, 2, 4>, fold_away<5, 1, 3>>;
using some_shapes = shapes<fold_away<2, 0>, fold_away<2, 1>, fold_away<3, 1>, fold_away<3, 0, 2>, fold_away<4, 1, 3>, fold_away<5, 0, 3>>;
using matrices = shapes<fold_away<2, 0>, fold_away<2, 1>>;

/// The elements of one group, column by column, and where they are in the source; `passed` are those that the mask lets through.
template <class... Ts>
struct group {
  std::tuple<std::vector<Ts>...> columns;
  std::vector<i64> positions, passed;
};

template <class T>
std::string bytes_of(T const& x) {
  if constexpr (requires { std::tuple_size<T>::value; }) {
    return std::apply([](auto const&... v) { return ("" + ... + bytes_of(v)); }, x);
  } else {
    std::ostringstream s;
    if constexpr (requires { s << x; })
      s << x << " ";
    auto const* const b = reinterpret_cast<unsigned char const*>(&x);
    for (std::size_t i = 0; i < sizeof x; ++i)
      s << "0123456789abcdef"[b[i] >> 4] << "0123456789abcdef"[b[i] & 15];
    return s.str() + "; ";
  }
}
inline bool same(auto const& a, auto const& b) { return tally::testing::same_bits(a, b); }

/// Answer g of an array, or the one answer there is.
template <class Answers>
auto const& answer_at(Answers const& a, i64 g) {
  if constexpr (requires { a.begin(); a.size(); })
    return a[static_cast<std::size_t>(g)];
  else
    return a;
}
/// Where the answers begin, whatever the shape of their array.
template <class Answers>
auto const* beginning(Answers const& a) {
  if constexpr (requires { a.begin(); a.size(); })
    return a.data();
  else
    return &a;
}
template <class... Answers>
auto beginnings(std::tuple<Answers...> const& all) {
  return std::apply([](auto const&... a) { return std::tuple(beginning(a)...); }, all);
}
template <class T>
struct is_tuple : std::false_type {};
template <class... Ts>
struct is_tuple<std::tuple<Ts...>> : std::true_type {};
template <class T>
auto as_tuple(T x) {
  if constexpr (is_tuple<T>::value)
    return x;
  else
    return std::make_tuple(x);
}

/// The contract of a recipe: reproducible, where fast may be asked for as well when order does not matter; or exact.
struct order_kept {
  static constexpr tally::contract of(dice&) { return tally::reproducible; }
};
struct fast_too {
  static tally::contract of(dice& d) { return d.percent(50) ? tally::fast : tally::reproducible; }
};
/// Of positions in the source, which a group alone does not know: a loop alone compares.
struct by_loop_alone : fast_too {};
struct rounded_once {
  static constexpr tally::v0::exact_contract of(dice&) { return tally::exact; }
};

/// No plain loop gives these answers exactly.
struct no_loop {};

template <class Columns, class Mask, class Folds, class Loop, class Contract>
struct recipe;
/// Mask, Folds and Loop are lambdas without captures: mask(constant) is a condition, folds() a pack of folds, loop(group) a tuple of
/// what they must answer. The constant is an element of the first column.
template <class... Ts, class Mask, class Folds, class Loop, class Contract>
struct recipe<group<Ts...>, Mask, Folds, Loop, Contract> {
  using first_type = std::tuple_element_t<0, std::tuple<Ts...>>;

  template <class Pipe>
  static auto masked(Pipe const& pipe, first_type constant) {
    if constexpr (std::is_same_v<decltype(Mask{}(constant)), tally::v0::always>)
      return pipe;
    else
      return pipe | tally::filter(Mask{}(constant));
  }
  static bool passes([[maybe_unused]] first_type constant, Ts... values) {
    if constexpr (std::is_same_v<decltype(Mask{}(constant)), tally::v0::always>)
      return true;
    else
      return Mask{}(constant)(values...);
  }
  /// The answers for a group alone; an empty optional where there is none.
  static auto alone(dice& d, group<Ts...> const& g, first_type constant) {
    auto const pipe = std::apply([&](auto const&... c) { return masked(tally::from(c...), constant); }, g.columns);
    return tally::v0::unpack([&](auto... fold) { return as_tuple(tally::run(pipe | tally::reduce(fold.maybe()...), tally::on::cpu.threads(1), Contract::of(d))); },
                  Folds{}());
  }
  /// Compares the answers of one group; says what differs.
  template <class Answers>
  static finding compare(dice& d, Answers const& got, group<Ts...> const& g, first_type constant) {
    finding out;
    if constexpr (!std::is_same_v<Contract, by_loop_alone>)
      out = compare_with_alone(d, got, g, constant);
    if constexpr (!std::is_same_v<Loop, no_loop>)
      if (!g.passed.empty())
        if (auto const by_loop = Loop{}(g); !same(by_loop, got))
          out += "folds: group " + bytes_of(got) + "loop " + bytes_of(by_loop);
    return out;
  }

private:
  template <class Answers>
  static finding compare_with_alone(dice& d, Answers const& got, group<Ts...> const& g, first_type constant) {
    finding out;
    auto const expected = alone(d, g, constant);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((!std::get<I>(expected) || same(*std::get<I>(expected), std::get<I>(got))
            ? void()
            : void(out += "fold " + std::to_string(I) + ": group " + bytes_of(std::get<I>(got)) + "alone " + bytes_of(*std::get<I>(expected)))),
       ...);
    }(std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(expected)>>>{});
    return out;
  }
};

/// One random source of columns Ts.
template <class... Ts>
struct random_source {
  extents shape;
  lie lies[sizeof...(Ts)];

  random_source(dice& d, int rank) : shape(random_extents(d, rank)) {
    for (auto& l : lies)
      l = random_lie(d, shape);
  }
  template <int Rank, class Do>
  auto with_columns(Do const& what) const {
    i64 of[Rank], strides[sizeof...(Ts)][Rank];
    for (int k = 0; k < Rank; ++k) {
      of[k] = shape.of[k];
      for (std::size_t c = 0; c < sizeof...(Ts); ++c)
        strides[c][k] = lies[c].strides[k];
    }
    return [&]<std::size_t... C>(std::index_sequence<C...>) {
      return what(tally::shaped(pool<Ts>().data() + lies[C].first, of, strides[C])...);
    }(std::index_sequence_for<Ts...>{});
  }
  i64 position(i64 const* index) const {
    i64 p = 0;
    for (int k = 0; k < shape.rank; ++k)
      p = p * shape.of[k] + index[k];
    return p;
  }
  void add_to(group<Ts...>& g, i64 const* index) const {
    [&]<std::size_t... C>(std::index_sequence<C...>) {
      (std::get<C>(g.columns).push_back(element<Ts>(lies[C], index)), ...);
    }(std::index_sequence_for<Ts...>{});
    g.positions.push_back(position(index));
  }
  std::string text() const {
    std::string s = "shape " + list(shape.of, shape.rank);
    for (auto const& l : lies)
      s += ", strides " + list(l.strides, shape.rank) + " from " + std::to_string(l.first);
    return s;
  }

private:
  template <class T>
  T element(lie const& l, i64 const* index) const {
    i64 at = l.first;
    for (int k = 0; k < shape.rank; ++k)
      at += index[k] * l.strides[k];
    return pool<T>()[static_cast<std::size_t>(at)];
  }
};

/// Which groups are compared: all of few, else the first, the last and some between.
inline i64 next_group(dice& d, i64 g, i64 groups) { return groups <= 48 ? g + 1 : g + 1 < groups - 1 ? std::min(groups - 1, g + 1 + d.below(groups / 16)) : g + 1; }

/// Compares the answers of one grouping, which begin there, with those of every (or many a) group alone.
template <class Recipe, class... Ts, class... Answers>
finding compare_groups(dice& d, random_source<Ts...> const& s, folded_axes const& axes, typename Recipe::first_type constant,
                       std::tuple<Answers const*...> const& answers) {
  u32 const kept = axes.kept();
  i64 groups = 1, number = 0, wanted = 0;
  for (int k = 0; k < axes.rank; ++k)
    groups *= (kept >> k & 1) != 0 ? s.shape.of[k] : 1;
  i64 index[most_axes]{};
  for (bool more = first_index(s.shape, kept, index); more; more = next_index(s.shape, kept, index)) {
    i64 const g = number++;
    if (g != wanted)
      continue;
    wanted = next_group(d, g, groups);
    group<Ts...> alone;
    for (bool element = first_index(s.shape, axes.reduced, index); element; element = next_index(s.shape, axes.reduced, index)) {
      s.add_to(alone, index);
      if (std::apply([&](auto const&... c) { return Recipe::passes(constant, c.back()...); }, alone.columns))
        alone.passed.push_back(static_cast<i64>(alone.positions.size()) - 1);
    }
    auto const got = std::apply([&](auto const*... a) { return std::make_tuple(a[g]...); }, answers);
    if (finding const f = Recipe::compare(d, got, alone, constant); !f.empty())
      return axes.name() + ", group " + std::to_string(g) + " of " + std::to_string(groups) + " with " +
             std::to_string(alone.positions.size()) + " elements: " + f;
  }
  return number == groups ? finding{} : "the test itself saw " + std::to_string(number) + " of " + std::to_string(groups) + " groups";
}
/// The source, the threads and the constant of what was found.
template <class T, class... Ts>
finding told(finding const& f, random_source<Ts...> const& s, int threads, T constant) {
  return f.empty() ? f : f + " [" + s.text() + ", " + std::to_string(threads) + " threads, constant " + bytes_of(constant) + "]";
}

inline int random_threads(dice& d) { return d.percent(94) ? 1 : d.percent(85) ? 2 : 3; }

/// An element of a pool, likely to divide the others.
template <class T>
T random_constant(dice& d) {
  return pool<T>()[static_cast<std::size_t>(d.below(pool_size))];
}

/// The check of a recipe over one set of axes.
template <class Shape, class Recipe, class Folds, class Contract, class... Ts>
finding check_over(dice& d) {
  random_source<Ts...> const s(d, Shape::rank);
  auto const constant = random_constant<typename Recipe::first_type>(d);
  int const threads = random_threads(d);
  auto const answers = s.template with_columns<Shape::rank>([&](auto const&... columns) {
    auto const pipe = Recipe::masked(tally::from(columns...), constant);
    return as_tuple(tally::run(pipe | tally::v0::unpack([](auto... f) { return Shape::over(f...); }, Folds{}()), tally::on::cpu.threads(threads), Contract::of(d)));
  });
  return told(compare_groups<Recipe>(d, s, Shape::axes, constant, beginnings(answers)), s, threads, constant);
}

template <class... Shapes, class Recipe, class Folds, class Contract, class... Ts>
bool add_all(char const* name, shapes<Shapes...>, Recipe, Folds, Contract, group<Ts...>) {
  (checks().push_back({name, Shapes::axes.name(), &check_over<Shapes, Recipe, Folds, Contract, Ts...>}), ...);
  return true;
}
/// Registers a recipe over sets of axes; see recipe for what the lambdas are.
template <class Contract = order_kept, class Columns, class Shapes, class Mask, class Folds, class Loop = no_loop>
bool add(char const* name, Columns columns, Shapes all, Mask, Folds, Loop = {}) {
  return add_all(name, all, recipe<Columns, Mask, Folds, Loop, Contract>{}, Folds{}, Contract{}, columns);
}
inline constexpr auto unmasked = [](auto) { return tally::v0::always{}; };

} // namespace properties
