// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What collects the text of expressions and folds. Layer 2, host only. Expressions walk themselves; what is then done to the string is
// compiled once, in dsl/pipeline/printer.cpp, and not in every user's file.
#pragma once

#include <string>
#include <vector>

#include <tally/base/name_of.hpp>
#include <tally/pipeline/reduce.hpp>

namespace tally::v0 {

/// The short name of an arithmetic type, f32, u8, bool; null for all others.
template <class T>
constexpr char const* short_name_of_number() {
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_same_v<T, f16>)
    return "f16";
  else if constexpr (std::is_same_v<T, bf16>)
    return "bf16";
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? "f32" : "f64";
  else if constexpr (std::is_integral_v<T>)
    return std::is_signed_v<T> ? (sizeof(T) == 1 ? "i8" : sizeof(T) == 2 ? "i16" : sizeof(T) == 4 ? "i32" : "i64")
                               : (sizeof(T) == 1 ? "u8" : sizeof(T) == 2 ? "u16" : sizeof(T) == 4 ? "u32" : "u64");
  else
    return nullptr;
}
/// The short name of an element type; a user's type by its own name.
template <class T>
[[gnu::cold]] std::string short_name() {
  if constexpr (short_name_of_number<T>() != nullptr)
    return short_name_of_number<T>();
  else
    return name_of<T>();
}

/// A fold where the printer expects something that prints itself.
template <class Fold>
struct printable {
  Fold const& fold;
  template <class Out>
  void print(Out& out) const {
    out.fold_argument(fold);
  }
};

/// Collects the text of expressions and folds.
class printer {
public:
  /// What is open: what stands between its items, and behind the last.
  struct brackets {
    char const* between;
    char const* close;
    bool infix; ///< an operator stands between, and its operands keep their parentheses
    bool first = true;
  };

  std::string out;
  std::vector<std::string> const* columns = nullptr; ///< what columns of the source are called; null: those of earlier answers are "let"

  printer();
  ~printer();
  printer& text(char const* s);
  printer& text(std::string const& s);
  printer& number(long long i);
  printer& column(int i);
  /// "name(", and a comma between what follows.
  brackets open(char const* name);
  /// An operation on so many operands: infix in parentheses where its spelling is a symbol.
  brackets open_call(char const* spelling, int operands);
  /// What stands in front of the next item; where that starts.
  std::size_t next(brackets& b);
  /// An item that started there is complete: it needs no parentheses of its own where it stands alone between commas.
  void end(brackets const& b, std::size_t start);
  void close(brackets const& b);
  /// Takes the parentheses off an infix call that was printed from `start` on.
  void unwrap(std::size_t start);
  /// The text, which this then no longer has.
  std::string take();

  template <class T>
  [[gnu::cold]] void scalar(T const& value) {
    if constexpr (std::is_same_v<T, bool>)
      text(value ? "true" : "false");
    else if constexpr (floating<T>)
      real(static_cast<double>(value));
    else if constexpr (integer<T> && std::is_signed_v<T>)
      number(value);
    else if constexpr (integer<T>)
      natural(value);
    else if constexpr (requires { value.low, value.high; }) // bounds of bins
      interval(value.low, value.high);
    else
      text(short_name<T>()).text("{...}");
  }
  template <class Op, class... Args>
  [[gnu::cold]] void call(Op, Args const&... args) {
    items(open_call(Op::spelling, int(sizeof...(Args))), args...);
  }
  template <class... Args>
  [[gnu::cold]] void named(char const* name, Args const&... args) {
    items(open(name), args...);
  }
  template <class... Args>
  [[gnu::cold]] void items(brackets b, Args const&... args) {
    (item(b, args), ...);
    close(b);
  }
  template <class Arg>
  void item(brackets& b, Arg const& a) {
    auto const start = next(b);
    a.print(*this);
    end(b, start);
  }

  template <class Op, class... Values, class Mask>
  [[gnu::cold]] void fold(folding<Op, pack<Values...>, Mask> const& f) {
    text(Op::spelling);
    if constexpr (requires { f.op.print_parameters(*this); }) {
      text("(");
      f.op.print_parameters(*this);
      text(")");
    }
    values_and_mask<Op>(f, ".where");
  }
  template <class Op, class... Args>
  [[gnu::cold]] void fold(folded_call<Op, Args...> const& f) {
    if constexpr (requires { Op::of_elements; })
      of_elements(Op::spelling, static_cast<typename nth_t<0, Args...>::tally_fold const&>(get<0>(f.args)));
    else
      unpack([&](auto const&... a) { call(Op{}, printable<std::remove_cvref_t<decltype(a)>>{a}...); }, f.args);
  }
  template <class Fold, class T>
  [[gnu::cold]] void fold(or_else_fold<Fold, T> const& f) {
    fold_argument(f.fold);
    text(".or_else(");
    scalar(f.value);
    text(")");
  }
  template <class Fold>
  [[gnu::cold]] void fold(maybe_fold<Fold> const& f) {
    fold_argument(f.fold);
    text(".maybe()");
  }
  template <class Arg>
  [[gnu::cold]] void fold_argument(Arg const& a) {
    if constexpr (fold_like<Arg>)
      fold(static_cast<typename Arg::tally_fold const&>(a));
    else
      a.print(*this);
  }

private:
  void real(double value);
  void natural(unsigned long long value);
  void interval(double low, double high);
  /// A composed fold that people know by one name: mean(_1).where(...).
  template <class Op, class Values, class Mask>
  void of_elements(char const* name, folding<Op, Values, Mask> const& f) {
    text(name);
    values_and_mask<Op>(f, Values::size == 0 ? "" : ".where");
  }
  template <class Op, class Values, class Mask>
  void values_and_mask(folding<Op, Values, Mask> const& f, char const* in_front_of_mask) {
    if constexpr (Values::size > 0)
      unpack([&](auto const&... v) { named("", v...); }, f.values);
    if constexpr (!std::is_same_v<Mask, always>)
      named(in_front_of_mask, f.mask);
    if constexpr (requires { requires Op::looks_for_nan; })
      text(".ignoring_nan()");
    if constexpr (requires { typename Op::accumulates_in; })
      if constexpr (!std::is_void_v<typename Op::accumulates_in>)
        text(".in<").text(short_name<typename Op::accumulates_in>()).text(">()");
    if constexpr (requires { Op::form; })
      text(Op::form);
  }
};

} // namespace tally::v0
