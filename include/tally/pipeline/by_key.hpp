// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grouping by_key: folds of the elements that have one key, an answer for every bin. Layer 2.
#pragma once

#include <tally/pipeline/keyed.hpp>

namespace tally::v0 {

/// Folds by an integer key in [0, bins), all in one read: by_key(_2, shops, sum(_1), count) gives two arrays of `shops` answers.
/// by_key<0>(...) of a matrix keys the rows: the arrays have the axes not named behind the bins. Another key is error
/// key_out_of_range, or, with .dropping_strays(), left out; bins: 0 to 2^31, else extent_mismatch or too_large.
template <int... Axes, class Key, class... Folds>
constexpr auto by_key(Key key, i64 bins, Folds... folds) {
  return folded_by_key<index_list<Axes...>, 1, false, Key, Folds...>{key, bins, {bins}, {-1, 0, 0}, make_pack(folds...)};
}

/// Folds where the number of bins should stand are refused.
template <int... Axes, class Key, fold_like... Folds>
auto by_key(Key, Folds...) -> because::a_key_is_an_integer<Key> {
  return {};
}

} // namespace tally::v0
