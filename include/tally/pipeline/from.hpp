// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb from: begins a pipeline with one or several columns, zipped. Layer 2.
#pragma once

#include <tally/pipeline/bundle.hpp>
#include <tally/pipeline/pipe.hpp>

namespace tally::inline v0 {

/// A pipeline over the given columns; element k of every column makes row k. The columns must outlive the run.
template <class... Columns>
constexpr auto from(Columns&&... columns) {
  if constexpr (sizeof...(Columns) > 0 && (column_like<Columns> && ...)) {
    auto const given = bundle_of(as_column(static_cast<Columns&&>(columns))...);
    auto s = unpack([](auto const&... c) { return make_source(c...); }, given.columns);
    return piped<decltype(s), std::remove_cvref_t<decltype(given.values)>, always>{s, given.values, {}};
  } else {
    return (void)sizeof(because::from_needs_columns<pack<std::remove_cvref_t<Columns>...>>), ill_formed{};
  }
}

} // namespace tally::inline v0
