// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb from: begins a pipeline with one or several columns, zipped. Layer 2.
#pragma once

#include <tally/pipeline/pipe.hpp>

namespace tally::inline v0 {

/// A pipeline over the given columns; element k of every column makes row k. The columns must outlive the run.
template <class... Columns>
constexpr auto from(Columns&&... columns) {
  if constexpr (sizeof...(Columns) > 0 && (column_like<Columns> && ...)) {
    auto s = make_source(as_column(static_cast<Columns&&>(columns))...);
    auto values = placeholders<int(sizeof...(Columns))>();
    return piped<decltype(s), decltype(values), always>{s, values, {}};
  } else {
    return (void)sizeof(because::from_needs_columns<pack<std::remove_cvref_t<Columns>...>>), ill_formed{};
  }
}

} // namespace tally::inline v0
