// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operators of element expressions. Layer 1. Integers widen to 64 bits and wrap there, comparisons of mixed signs are
// those of mathematics, and an integer divided by zero is zero on every back end: hardware disagrees, a result may not.
// The bitwise or is bits_or(a, b): operator| composes pipelines.
#pragma once

#include <tally/element/expression.hpp>

namespace tally::v0 {

namespace op {

template <class A, class B>
concept reals = real<A> && real<B>;

struct plus {
  static constexpr char const* spelling = "+";
  template <class A, class B>
    requires reals<A, B> || requires(A a, B b) { a + b; }
  TALLY_INLINE static constexpr auto apply(A a, B b) {
    if constexpr (reals<A, B>) {
      using T = common_t<A, B>;
      return wrapping::add(static_cast<T>(a), static_cast<T>(b));
    } else {
      return a + b;
    }
  }
};

struct minus {
  static constexpr char const* spelling = "-";
  template <class A, class B>
    requires reals<A, B> || requires(A a, B b) { a - b; }
  TALLY_INLINE static constexpr auto apply(A a, B b) {
    if constexpr (reals<A, B>) {
      using T = common_t<A, B>;
      return wrapping::subtract(static_cast<T>(a), static_cast<T>(b));
    } else {
      return a - b;
    }
  }
};

struct times {
  static constexpr char const* spelling = "*";
  template <class A, class B>
    requires reals<A, B> || requires(A a, B b) { a * b; }
  TALLY_INLINE static constexpr auto apply(A a, B b) {
    if constexpr (reals<A, B>) {
      using T = common_t<A, B>;
      return wrapping::multiply(static_cast<T>(a), static_cast<T>(b));
    } else {
      return a * b;
    }
  }
};

struct divided {
  static constexpr char const* spelling = "/";
  template <class A, class B>
    requires reals<A, B> || requires(A a, B b) { a / b; }
  TALLY_INLINE static constexpr auto apply(A a, B b) {
    if constexpr (reals<A, B>) {
      using T = common_t<A, B>;
      auto const x = static_cast<T>(a), y = static_cast<T>(b);
      if constexpr (integer<T>)
        return y == T(0) ? T(0) : (T(-1) < T(0) && y == T(-1)) ? wrapping::subtract(T(0), x) : x / y;
      else
        return x / y;
    } else {
      return a / b;
    }
  }
};

struct remainder {
  static constexpr char const* spelling = "%";
  template <integer A, integer B>
  TALLY_INLINE static constexpr auto apply(A a, B b) {
    using T = common_t<A, B>;
    auto const x = static_cast<T>(a), y = static_cast<T>(b);
    return y == T(0) || (T(-1) < T(0) && y == T(-1)) ? T(0) : x % y;
  }
};

struct negated {
  static constexpr char const* spelling = "-";
  template <class A>
    requires real<A> || requires(A a) { -a; }
  TALLY_INLINE static constexpr auto apply(A a) {
    if constexpr (integer<A> || stl::same_as<A, bool>)
      return wrapping::subtract(i64(0), static_cast<i64>(a));
    else if constexpr (real<A>)
      return -widen(a);
    else
      return -a;
  }
};

/// Whether a < b in mathematics, whatever the signedness of the two.
template <class A, class B>
TALLY_INLINE constexpr bool less_than(A a, B b) {
  if constexpr (integer<A> && integer<B>) {
    auto const x = widen(a);
    auto const y = widen(b);
    if constexpr (stl::same_as<decltype(x), decltype(y)>)
      return x < y;
    else if constexpr (A(-1) < A(0))
      return x < 0 || static_cast<u64>(x) < y;
    else
      return y >= 0 && x < static_cast<u64>(y);
  } else if constexpr (reals<A, B>) {
    using T = common_t<A, B>;
    return static_cast<T>(a) < static_cast<T>(b);
  } else {
    return a < b;
  }
}

/// Whether a == b in mathematics.
template <class A, class B>
TALLY_INLINE constexpr bool equal_to(A a, B b) {
  if constexpr (integer<A> && integer<B>)
    return !less_than(a, b) && !less_than(b, a);
  else if constexpr (real<A> && real<B>)
    return static_cast<common_t<A, B>>(a) == static_cast<common_t<A, B>>(b);
  else
    return a == b;
}

/// Whether a <= b in mathematics. Of numbers one comparison: a second one behind a branch keeps compilers from making vectors of a loop.
template <class A, class B>
TALLY_INLINE constexpr bool at_most(A a, B b) {
  if constexpr (integer<A> && integer<B>)
    return !less_than(b, a);
  else if constexpr (reals<A, B>)
    return static_cast<common_t<A, B>>(a) <= static_cast<common_t<A, B>>(b);
  else
    return less_than(a, b) || equal_to(a, b);
}

struct less {
  static constexpr char const* spelling = "<";
  template <class A, class B>
    requires reals<A, B> || requires(A a, B b) { { a < b } -> stl::convertible_to<bool>; }
  TALLY_INLINE static constexpr bool apply(A a, B b) {
    return less_than(a, b);
  }
};

struct greater {
  static constexpr char const* spelling = ">";
  template <class A, class B>
    requires reals<A, B> || requires(A a, B b) { { b < a } -> stl::convertible_to<bool>; }
  TALLY_INLINE static constexpr bool apply(A a, B b) {
    return less_than(b, a);
  }
};

struct less_equal {
  static constexpr char const* spelling = "<=";
  template <class A, class B>
    requires reals<A, B> || requires(A a, B b) {
      { a < b } -> stl::convertible_to<bool>;
      { a == b } -> stl::convertible_to<bool>;
    }
  TALLY_INLINE static constexpr bool apply(A a, B b) {
    return at_most(a, b);
  }
};

struct greater_equal {
  static constexpr char const* spelling = ">=";
  template <class A, class B>
    requires reals<A, B> || requires(A a, B b) {
      { b < a } -> stl::convertible_to<bool>;
      { a == b } -> stl::convertible_to<bool>;
    }
  TALLY_INLINE static constexpr bool apply(A a, B b) {
    return at_most(b, a);
  }
};

struct equal {
  static constexpr char const* spelling = "==";
  template <class A, class B>
    requires reals<A, B> || requires(A a, B b) { { a == b } -> stl::convertible_to<bool>; }
  TALLY_INLINE static constexpr bool apply(A a, B b) {
    return equal_to(a, b);
  }
};

struct not_equal {
  static constexpr char const* spelling = "!=";
  template <class A, class B>
    requires reals<A, B> || requires(A a, B b) { { a == b } -> stl::convertible_to<bool>; }
  TALLY_INLINE static constexpr bool apply(A a, B b) {
    return !equal_to(a, b);
  }
};

struct both {
  static constexpr char const* spelling = "&&";
  static constexpr bool settled_by = false; ///< the first operand alone: the user's functions then are not asked for the second
  TALLY_INLINE static constexpr bool apply(bool a, bool b) { return a & b; } // both are known, so there is nothing to branch for
};

struct either {
  static constexpr char const* spelling = "||";
  static constexpr bool settled_by = true;
  TALLY_INLINE static constexpr bool apply(bool a, bool b) { return a | b; }
};

struct negation {
  static constexpr char const* spelling = "!";
  TALLY_INLINE static constexpr bool apply(bool a) { return !a; }
};

struct bits_and {
  static constexpr char const* spelling = "&";
  template <integer A, integer B>
  TALLY_INLINE static constexpr auto apply(A a, B b) {
    using T = common_t<A, B>;
    return static_cast<T>(static_cast<u64>(widen(a)) & static_cast<u64>(widen(b)));
  }
};

struct bits_or {
  static constexpr char const* spelling = "bits_or";
  template <integer A, integer B>
  TALLY_INLINE static constexpr auto apply(A a, B b) {
    using T = common_t<A, B>;
    return static_cast<T>(static_cast<u64>(widen(a)) | static_cast<u64>(widen(b)));
  }
};

struct bits_xor {
  static constexpr char const* spelling = "^";
  template <integer A, integer B>
  TALLY_INLINE static constexpr auto apply(A a, B b) {
    using T = common_t<A, B>;
    return static_cast<T>(static_cast<u64>(widen(a)) ^ static_cast<u64>(widen(b)));
  }
};

struct bits_not {
  static constexpr char const* spelling = "~";
  template <integer A>
  TALLY_INLINE static constexpr auto apply(A a) {
    return ~widen(a);
  }
};

/// Shifts count modulo 64; the shifted value is widened first.
struct shifted_left {
  static constexpr char const* spelling = "<<";
  template <integer A, integer B>
  TALLY_INLINE static constexpr auto apply(A a, B b) {
    return static_cast<accumulator_t<A>>(static_cast<u64>(widen(a)) << (static_cast<u64>(b) & 63u));
  }
};
struct shifted_right {
  static constexpr char const* spelling = ">>";
  template <integer A, integer B>
  TALLY_INLINE static constexpr auto apply(A a, B b) {
    return static_cast<accumulator_t<A>>(widen(a) >> (static_cast<u64>(b) & 63u));
  }
};

} // namespace op

template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator+(A a, B b) {
  return call_of<op::plus>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator-(A a, B b) {
  return call_of<op::minus>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator*(A a, B b) {
  return call_of<op::times>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator/(A a, B b) {
  return call_of<op::divided>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator%(A a, B b) {
  return call_of<op::remainder>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator<(A a, B b) {
  return call_of<op::less>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator>(A a, B b) {
  return call_of<op::greater>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator<=(A a, B b) {
  return call_of<op::less_equal>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator>=(A a, B b) {
  return call_of<op::greater_equal>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator==(A a, B b) {
  return call_of<op::equal>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator!=(A a, B b) {
  return call_of<op::not_equal>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator&&(A a, B b) {
  return call_of<op::both>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator||(A a, B b) {
  return call_of<op::either>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator&(A a, B b) {
  return call_of<op::bits_and>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator^(A a, B b) {
  return call_of<op::bits_xor>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator<<(A a, B b) {
  return call_of<op::shifted_left>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto operator>>(A a, B b) {
  return call_of<op::shifted_right>(a, b);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto operator-(A a) {
  return call_of<op::negated>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto operator!(A a) {
  return call_of<op::negation>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto operator~(A a) {
  return call_of<op::bits_not>(a);
}

/// The bitwise or of two integers.
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto bits_or(A a, B b) {
  return call_of<op::bits_or>(a, b);
}

} // namespace tally::v0
