// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands in place of a column that nothing names: it keeps the number of those behind it and the shape of a leaf, and is in no memory. Layer 1.
#pragma once

#include <tally/element/earlier.hpp>

namespace tally::v0 {

/// In place of a column of type Of, one that a kernel knows. Its elements say nothing.
template <class Of>
struct unread {
  using value_type = typename Of::value_type;
  using in_place_of = Of;
  static constexpr bool lowerable = true;
  TALLY_INLINE constexpr value_type at(i64) const {
    struct zeros {
      unsigned char bytes[sizeof(value_type)];
    };
    return __builtin_bit_cast(value_type, zeros{}); // a value of the user's may have no default
  }
  constexpr unread from(i64) const { return {}; }
};

template <class Column>
inline constexpr bool is_unread = false;
template <class Of>
inline constexpr bool is_unread<unread<Of>> = true;

} // namespace tally::v0
