// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pipeline as people read it: from(f32[1000]) | filter(_1 > 0) | reduce(sum(_1 * _2)). Layer 2, host only. All of it is
// cold, which keeps the compiler of a user's file from spending its time on strings.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <tally/base/name_of.hpp>
#include <tally/pipeline/grid.hpp>
#include <tally/pipeline/reduce.hpp>

namespace tally::inline v0 {

/// The short name of an element type: f32, u8, bool; a user's type by its own name.
template <class T>
[[gnu::cold]] std::string short_name() {
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_same_v<T, f16>)
    return "f16";
  else if constexpr (std::is_same_v<T, bf16>)
    return "bf16";
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? "f32" : "f64";
  else if constexpr (std::is_integral_v<T>)
    return (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
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
  std::string out;
  std::vector<std::string> const* columns = nullptr; ///< what columns of the source are called; null: those of earlier answers are "let"

  printer& text(char const* s) {
    out += s;
    return *this;
  }
  printer& number(long long i) {
    out += std::to_string(i);
    return *this;
  }
  printer& column(int i) {
    out += columns == nullptr ? "let" : columns->at(std::size_t(i));
    return *this;
  }
  template <class T>
  [[gnu::cold]] void scalar(T const& value) {
    if constexpr (std::is_same_v<T, bool>) {
      out += value ? "true" : "false";
    } else if constexpr (floating<T>) {
      char buffer[32];
      std::snprintf(buffer, sizeof buffer, "%.9g", static_cast<double>(value));
      out += buffer;
    } else if constexpr (integer<T>) {
      out += std::to_string(value);
    } else if constexpr (requires { value.low, value.high; }) { // bounds of bins
      interval(value.low, value.high);
    } else {
      out += short_name<T>() + "{...}";
    }
  }
  [[gnu::cold]] void interval(double a, double b) {
    out += "[";
    scalar(a);
    out += ", ";
    scalar(b);
    out += "]";
  }
  /// An operation and its operands: infix in parentheses where its spelling is a symbol.
  template <class Op, class... Args>
  [[gnu::cold]] void call(Op, Args const&... args) {
    std::string const spelling = Op::spelling;
    bool const symbol = std::string("+-*/%<>=!&|^~").find(spelling[0]) != std::string::npos;
    if (symbol && sizeof...(Args) == 2)
      list("(", " " + spelling + " ", ")", args...);
    else if (symbol)
      list(spelling, "", "", args...);
    else
      list(spelling + "(", ", ", ")", args...);
  }
  template <class... Args>
  [[gnu::cold]] void named(char const* name, Args const&... args) {
    list(std::string(name) + "(", ", ", ")", args...);
  }
  template <class... Args>
  [[gnu::cold]] void list(std::string const& open, std::string const& between, std::string const& close,
                          Args const&... args) {
    bool const infix = between != ", ";
    out += open;
    int printed = 0;
    ((printed++ > 0 ? void(out += between) : void(), infix ? args.print(*this) : argument(args)), ...);
    out += close;
  }
  /// What stands alone between commas needs no parentheses of its own.
  template <class Arg>
  void argument(Arg const& a) {
    auto const start = out.size();
    a.print(*this);
    unwrap(start);
  }
  /// Takes the parentheses off an infix call that was printed from `start` on.
  void unwrap(std::size_t start) {
    if (out.size() > start + 1 && out[start] == '(' && out.back() == ')') {
      out.pop_back();
      out.erase(start, 1);
    }
  }

  template <class Op, class... Values, class Mask>
  [[gnu::cold]] void fold(folding<Op, pack<Values...>, Mask> const& f) {
    out += Op::spelling;
    if constexpr (requires { f.op.print_parameters(*this); }) {
      out += "(";
      f.op.print_parameters(*this);
      out += ")";
    }
    if constexpr (sizeof...(Values) > 0)
      unpack([&](auto const&... v) { list("(", ", ", ")", v...); }, f.values);
    if constexpr (!std::is_same_v<Mask, always>)
      list(".where(", ", ", ")", f.mask);
    ignoring_nan<Op>();
  }
  template <class Op>
  void ignoring_nan() {
    if constexpr (requires { requires Op::looks_for_nan; })
      out += ".ignoring_nan()";
  }
  template <class Op, class... Args>
  [[gnu::cold]] void fold(folded_call<Op, Args...> const& f) {
    if constexpr (requires { Op::of_elements; })
      of_elements(Op::spelling, static_cast<typename nth_t<0, Args...>::tally_fold const&>(get<0>(f.args)));
    else
      unpack([&](auto const&... a) { call(Op{}, printable<std::remove_cvref_t<decltype(a)>>{a}...); }, f.args);
  }
  /// A composed fold that people know by one name: mean(_1).where(...).
  template <class Op, class Values, class Mask>
  [[gnu::cold]] void of_elements(char const* name, folding<Op, Values, Mask> const& f) {
    out += name;
    if constexpr (Values::size > 0)
      unpack([&](auto const&... v) { list("(", ", ", ")", v...); }, f.values);
    if constexpr (!std::is_same_v<Mask, always>)
      list(Values::size == 0 ? "(" : ".where(", ", ", ")", f.mask);
    ignoring_nan<Op>();
  }
  template <class Fold, class T>
  [[gnu::cold]] void fold(or_else_fold<Fold, T> const& f) {
    fold_argument(f.fold);
    out += ".or_else(";
    scalar(f.value);
    out += ")";
  }
  template <class Fold>
  [[gnu::cold]] void fold(maybe_fold<Fold> const& f) {
    fold_argument(f.fold);
    out += ".maybe()";
  }
  template <class Arg>
  [[gnu::cold]] void fold_argument(Arg const& a) {
    if constexpr (fold_like<Arg>)
      fold(static_cast<typename Arg::tally_fold const&>(a));
    else
      a.print(*this);
  }
};

namespace detail {
template <class Column>
[[gnu::cold]] std::string column_text(Column const&, i64 extent) {
  std::string s = short_name<typename Column::value_type>() + "[" + std::to_string(extent) + "]";
  if constexpr (requires(Column c) { c.stride; })
    return "every(" + s + ")";
  else if constexpr (!Column::lowerable)
    return "host(" + s + ")";
  else if constexpr (!memory_column<Column>)
    return "iota(" + s + ")";
  else
    return s;
}
} // namespace detail

/// The text of the columns: their types, extents and kinds.
template <class Source>
[[gnu::cold]] std::string text_of_source(Source const& s) {
  std::string out = "from(";
  int i = 0;
  unpack([&](auto const&... c) { ((out += (i ? ", " : "") + detail::column_text(c, s.extents[i]), ++i), ...); },
         s.columns);
  return out + ")";
}
template <int Rank, class... Columns>
[[gnu::cold]] std::string text_of_source(grid<Rank, Columns...> const& s) {
  std::string out = "from(", own, axes;
  int i = 0;
  auto const shape = [&](auto const& c) {
    own = axes = "";
    for (int k = 0; k < Rank; ++k)
      if (i64 const e = s.axes[i][k]; e != any_extent) {
        own += (own.empty() ? "" : " x ") + std::to_string(e);
        axes += (axes.empty() ? "" : ", ") + std::to_string(k);
      }
    std::string const text = short_name<typename std::remove_cvref_t<decltype(c)>::value_type>() + "[" + own + "]";
    bool const whole = axes.size() + 2 >= 3 * std::size_t(Rank);
    return whole ? text : "along<" + axes + ">(" + text + ")";
  };
  unpack([&](auto const&... c) { ((out += (i ? ", " : "") + shape(c), ++i), ...); }, s.columns);
  return out + ")";
}

/// The text of an expression; columns: what columns of the source are called in it, if they have names.
template <class Expr>
[[gnu::cold]] std::string text_of(Expr const& e, std::vector<std::string> const* columns) {
  printer p;
  p.columns = columns;
  if constexpr (fold_like<Expr>)
    p.fold_argument(e);
  else
    e.print(p);
  p.unwrap(0);
  return p.out;
}

template <class Expr>
[[gnu::cold]] std::string text_of(Expr const& e) {
  return text_of(e, nullptr);
}

/// The text of a grouping: its name and what it groups by, then its folds.
template <grouping G>
[[gnu::cold]] std::string text_of(G const& g, std::vector<std::string> const* columns) {
  printer p;
  g.print_head(p);
  unpack([&](auto const&... f) { ((p.out += (p.out.back() == '(' ? "" : ", ") + text_of(f, columns)), ...); }, g.folds);
  return p.out + ")";
}

namespace detail {
/// " | filter(...) | map(...)", as far as they are there.
template <class Pipe>
[[gnu::cold]] std::string text_of_stages(Pipe const& pipe) {
  std::string out;
  if constexpr (!std::is_same_v<decltype(pipe.mask), always>)
    out += " | filter(" + tally::text_of(pipe.mask) + ")";
  auto values = placeholders<current_count<Pipe>>();
  if constexpr (!std::is_same_v<decltype(values), std::remove_cvref_t<decltype(pipe.values)>>) {
    printer p;
    unpack([&](auto const&... v) { p.list(" | map(", ", ", ")", v...); }, pipe.values);
    out += p.out;
  }
  return out;
}
template <class Pipe, class Folds>
[[gnu::cold]] std::string text_of_reduction(Pipe const& pipe, Folds const& items) {
  std::string folds;
  unpack([&](auto const&... f) { ((folds += (folds.empty() ? "" : ", ") + tally::text_of(f)), ...); }, items);
  return text_of_source(pipe.source) + text_of_stages(pipe) + " | reduce(" + folds + ")";
}
} // namespace detail

/// The text of a whole reduction; a map has already gone into the expressions that follow it.
template <class Pipe, class... Folds>
[[gnu::cold]] std::string text_of(reduced<Pipe, Folds...> const& r) {
  return detail::text_of_reduction(r.pipe, r.folds);
}
template <class Pipe, class... Items>
[[gnu::cold]] std::string text_of(grouped<Pipe, Items...> const& r) {
  return detail::text_of_reduction(r.pipe, r.folds);
}

} // namespace tally::inline v0
