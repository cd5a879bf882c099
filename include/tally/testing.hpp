// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For users' own doctest specs: plans, explanations and pipelines print themselves when a check fails, an exact oracle
// for sums, and checks of a plan's choice and of unchanged bits. Stands above the layers; the only header that includes
// doctest.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <tally/fold/min_max.hpp>
#include <tally/fold/moments.hpp>
#include <tally/plan/spell.hpp>
#include <tally/run/explain.hpp>

namespace tally::inline v0::testing {

/// A sum of floats without any rounding: a fixed-point number as wide as all of double.
class exact_accumulator {
public:
  /// Adds one term; the order of terms does not matter.
  void add(double x) {
    only_minus_zeros_ = x == 0 && std::signbit(x) && (only_minus_zeros_ || !any_);
    any_ = true;
    if (!std::isfinite(x)) {
      (std::isnan(x) ? nan_ : x > 0 ? above_ : below_) = true;
      return;
    }
    int exponent = 0;
    auto const size = static_cast<u64>(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
    int const place = exponent - 53 + lowest; // of the lowest bit of size
    if (size == 0)
      return;
    int const digit = place / 32, shift = place % 32;
    u64 const low = (size & 0xffffffffu) << shift, high = (size >> 32) << shift;
    i64 const sign = x < 0 ? -1 : 1;
    digits_[digit] += sign * static_cast<i64>(low & 0xffffffffu);
    digits_[digit + 1] += sign * static_cast<i64>((low >> 32) + (high & 0xffffffffu));
    digits_[digit + 2] += sign * static_cast<i64>(high >> 32);
    if (++pending_ == most_pending)
      carry();
  }

  /// The sum, rounded once to nearest even: infinite beyond the range of T, -0 only where every term was.
  template <floating T>
  T rounded() const {
    if (nan_ || (above_ && below_))
      return T(std::numeric_limits<float>::quiet_NaN());
    if (above_ || below_)
      return T(above_ ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity());
    exact_accumulator a = *this;
    a.carry();
    bool const negative = a.digits_[count - 1] < 0;
    if (negative) {
      for (auto& d : a.digits_)
        d = -d;
      a.carry();
    }
    double const size = a.template rounded_size<T>();
    return T(negative || only_minus_zeros_ ? -size : size);
  }

private:
  static constexpr int lowest = 1152; // bit 0 of digit 0 weighs 2^-lowest, below any bit of a double's 53
  static constexpr int count = 72;
  static constexpr int most_pending = 1 << 29;
  i64 digits_[count]{};
  int pending_ = 0;
  bool nan_ = false, above_ = false, below_ = false, any_ = false, only_minus_zeros_ = false;

  /// Brings all digits but the highest into [0, 2^32).
  void carry() {
    for (int k = 0; k + 1 < count; ++k) {
      i64 const over = digits_[k] >> 32;
      digits_[k] -= over * (i64(1) << 32);
      digits_[k + 1] += over;
    }
    pending_ = 0;
  }
  bool bit(int b) const { return ((digits_[b / 32] >> (b % 32)) & 1) != 0; }
  bool any_below(int b) const {
    for (int k = 0; k < b; ++k)
      if (bit(k))
        return true;
    return false;
  }
  /// The size in the precision of T, as a double.
  template <class T>
  double rounded_size() const {
    constexpr bool is_double = std::is_same_v<T, double>, is_float = std::is_same_v<T, float>, is_f16 = std::is_same_v<T, f16>;
    constexpr int precision = is_double ? 53 : is_float ? 24 : is_f16 ? 11 : 8;
    constexpr int smallest = is_double ? -1074 : is_float ? -149 : is_f16 ? -24 : -133;
    constexpr double beyond = is_f16 ? 0x1p16 : 0x1p128; // for double, ldexp overflows by itself
    int top = count * 32 - 1;
    while (top >= 0 && !bit(top))
      --top;
    int const unit = top - (precision - 1) > smallest + lowest ? top - (precision - 1) : smallest + lowest;
    u64 whole = 0;
    for (int b = top; b >= unit; --b)
      whole = 2 * whole + (bit(b) ? 1 : 0);
    if (bit(unit - 1) && (any_below(unit - 1) || (whole & 1) != 0))
      ++whole;
    double const size = std::ldexp(static_cast<double>(whole), unit - lowest);
    return !is_double && size >= beyond ? std::numeric_limits<double>::infinity() : size;
  }
};

/// The exact sum of a range of floats, rounded once to T (void: the type of the elements).
template <class T = void, class Range>
auto exact_sum(Range const& range) {
  using Element = std::remove_cvref_t<decltype(*std::begin(range))>;
  static_assert(floating<Element>, "exact_sum adds floats; sums of integers are exact by themselves");
  exact_accumulator sum_of_all;
  for (auto const& x : range)
    sum_of_all.add(static_cast<double>(x));
  return sum_of_all.rounded<std::conditional_t<std::is_void_v<T>, Element, T>>();
}

/// Whether two answers have the same bits: +0 is not -0, and a NaN is the NaN of the same bits. Tuples, optionals and the
/// library's own answers go value by value, other trivially copyable types byte by byte.
template <class T>
bool same_bits(T const& a, T const& b) {
  if constexpr (requires { std::tuple_size<T>::value; }) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (true && ... && same_bits(std::get<I>(a), std::get<I>(b)));
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (requires { a.has_value() && (*a, true); }) {
    return a.has_value() == b.has_value() && (!a.has_value() || same_bits(*a, *b));
  } else if constexpr (requires { a.n, a.mean, a.central; }) { // moments_result, which has padding
    return a.n == b.n && same_bits(a.mean, b.mean) && std::memcmp(a.central, b.central, sizeof a.central) == 0;
  } else {
    static_assert(std::is_trivially_copyable_v<T>, "same_bits compares answers");
    return std::memcmp(&a, &b, sizeof(T)) == 0;
  }
}

/// What the planner decides about a reduction on a target (targets::h200, ...): .plan, .blocks, .why_not. Its columns are
/// taken to lie in the target's memory at the addresses they have. Throws no_gpu for one that only the CPU can run.
template <class R>
planned planned_for(R const& r, target const& where, contract promise = contract::reproducible) {
  auto const explained = explain(r, where, promise);
  if (!explained.details().on_gpu)
    throw no_gpu("this reduction is planned for no GPU.");
  return explained.details().planned;
}

namespace detail {

/// Copies of the columns of a program, in host or device memory, `shift` alignments behind a border of 64 bytes.
template <class Program>
class displaced_columns {
public:
  displaced_columns(Program const& p, int shift, bool on_device) : moved_(p) {
    gpu::column_place places[max_sources]{};
    tally::detail::places_of(moved_, places);
    for_each_index<decltype(p.columns)::size>([&](auto i) {
      using V = typename std::remove_cvref_t<decltype(get<i>(p.columns))>::value_type;
      if (places[i].pointer != nullptr && p.extent > 0)
        move(places[i], static_cast<std::size_t>(shift) * alignof(V) % 16, on_device);
    });
  }
  Program const& moved() const { return moved_; }

private:
  void move(gpu::column_place const& c, std::size_t skip, bool on_device) {
    auto const bytes = static_cast<std::size_t>(c.bytes);
    auto const* const from = static_cast<char const*>(*c.pointer) + c.low_bytes;
    char* to = nullptr;
    if (on_device) {
      of_device_.push_back(gpu::allocate(bytes + skip, 0));
      to = static_cast<char*>(of_device_.back().data()) + skip;
    } else {
      of_host_.push_back(std::make_unique<char[]>(bytes + skip + 64));
      auto const address = reinterpret_cast<std::uintptr_t>(of_host_.back().get());
      to = of_host_.back().get() + (64 - address % 64) + skip;
    }
    if (on_device || gpu::residence_of(from) == gpu::residence::device)
      gpu::copy(to, from, bytes, 0), gpu::wait(0);
    else
      std::memcpy(to, from, bytes);
    *c.pointer = to - c.low_bytes;
  }
  Program moved_;
  std::vector<std::unique_ptr<char[]>> of_host_;
  std::vector<gpu::device_memory> of_device_;
};

/// How many shifts by the alignments of its columns a program can tell apart.
template <class... Columns, class... Leaves>
constexpr int distinct_shifts(program<pack<Columns...>, Leaves...> const&) {
  int narrowest = 16;
  ((narrowest = memory_column<Columns> && int(alignof(typename Columns::value_type)) < narrowest
                    ? int(alignof(typename Columns::value_type))
                    : narrowest),
   ...);
  return 16 / narrowest;
}

} // namespace detail

/// Checks that a reduction has the same bits on the CPU with 1, 2, 3 and 8 threads, with its columns at every misalignment
/// their types allow, and on the GPU where there is one, from host and from device memory. True when all agree. Columns may
/// lie in host or device memory; throws what run throws.
template <class R>
bool check_same_bits(R const& r) {
  auto const bound = bind_checked(r);
  using Program = std::remove_cvref_t<decltype(bound.program)>;
  bool all_same = true;
  auto const answers_of = [&](Program const& p, auto where) {
    return tally::detail::answers_of(r, bound, compute(p, where, contract::reproducible));
  };
  detail::displaced_columns<Program> const aligned(bound.program, 0, false);
  auto const expected = answers_of(aligned.moved(), on::cpu.threads(1));
  auto const check = [&](Program const& p, auto where, std::string const& how) {
    bool const same = same_bits(expected, answers_of(p, where));
    all_same = all_same && same;
    DOCTEST_CHECK_MESSAGE(same, how << " gives other bits than one thread of the CPU: " << text_of(r));
  };
  for (int threads : {2, 3, 8})
    check(aligned.moved(), on::cpu.threads(threads), std::to_string(threads) + " threads");
  constexpr bool for_gpu = Program::lowerable;
  bool const gpu_is_there = for_gpu && gpu::device_count() > 0 && gpu::can_compile();
  if constexpr (for_gpu)
    if (gpu_is_there)
      check(aligned.moved(), on::gpu, "the GPU, from host memory,");
  for (int shift = 0; shift < detail::distinct_shifts(bound.program); ++shift) {
    std::string const where = " at a misalignment of " + std::to_string(shift) + " alignments";
    if (shift > 0)
      check(detail::displaced_columns<Program>(bound.program, shift, false).moved(), on::cpu.threads(2), "the CPU" + where);
    if constexpr (for_gpu)
      if (gpu_is_there)
        check(detail::displaced_columns<Program>(bound.program, shift, true).moved(), on::gpu, "the GPU" + where);
  }
  return all_same;
}

namespace detail {

inline std::string text_of_plan(plan const& p) {
  int sources = max_sources, folds = max_folds;
  while (sources > 0 && p.sources[sources - 1] == source_choice{})
    --sources;
  while (folds > 1 && p.folds[folds - 1] == fold_choice{})
    --folds;
  return spell(p, sources, folds);
}
inline std::string text_of_planned(planned const& p) {
  std::string out = text_of_plan(p.plan) + " on " + std::to_string(p.blocks) + " blocks";
  for (int i = 0; i < p.why_not.count; ++i) {
    refusal const& no = p.why_not.entries[i];
    std::string reason = no.reason;
    for (int k = 0; k < 2; ++k)
      if (auto const at = reason.find("{" + std::to_string(k) + "}"); at != std::string::npos)
        reason.replace(at, 3, std::to_string(no.numbers[k]));
    out += std::string("\n  not ") + no.choice + ": " + reason;
  }
  return out;
}
template <class T>
std::string text_of_pipeline(T const& p) {
  if constexpr (finished<T>) {
    return text_of(p);
  } else {
    std::string const all = text_of(reduced<T>{p, {}});
    return all.substr(0, all.rfind(" | reduce("));
  }
}
inline doctest::String shown(std::string const& s) { return s.c_str(); }

} // namespace detail

} // namespace tally::inline v0::testing

namespace tally::inline v0 {
// doctest finds these by the type of their argument; enumerations would otherwise be printed as numbers.
inline doctest::String toString(contract c) { return spell(c); }
inline doctest::String toString(combine_order o) { return spell(o); }
inline doctest::String toString(load_primitive l) { return spell(l); }
inline doctest::String toString(block_algorithm b) { return spell(b); }
} // namespace tally::inline v0

namespace doctest {
template <>
struct StringMaker<tally::plan> {
  static String convert(tally::plan const& p) { return tally::testing::detail::shown(tally::testing::detail::text_of_plan(p)); }
};
template <>
struct StringMaker<tally::planned> {
  static String convert(tally::planned const& p) {
    return tally::testing::detail::shown(tally::testing::detail::text_of_planned(p));
  }
};
template <>
struct StringMaker<tally::explanation> {
  static String convert(tally::explanation const& e) { return tally::testing::detail::shown("\n" + e.text()); }
};
template <class T>
  requires tally::pipeline<T>
struct StringMaker<T> {
  static String convert(T const& p) { return tally::testing::detail::shown(tally::testing::detail::text_of_pipeline(p)); }
};
template <class T>
  requires(tally::expression<T> || tally::fold_like<T>)
struct StringMaker<T> {
  static String convert(T const& e) { return tally::testing::detail::shown(tally::text_of(e)); }
};
template <class T>
struct StringMaker<tally::extent_of_values<T>> {
  static String convert(tally::extent_of_values<T> const& e) {
    std::ostringstream out;
    out << "min " << +e.min << ", max " << +e.max;
    return out.str().c_str();
  }
};
template <class A, int K>
struct StringMaker<tally::moments_result<A, K>> {
  static String convert(tally::moments_result<A, K> const& m) {
    std::ostringstream out;
    out << m.n << " elements, mean " << m.mean << ", central moments";
    for (auto c : m.central)
      out << " " << c;
    return out.str().c_str();
  }
};
} // namespace doctest
