// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the answers of a run on a device come to the host. Layer 3.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0::planning {

/// Answers of a run up to here its kernels write into page-locked memory of the host themselves; more are copied, which waits for each array.
inline constexpr i64 bytes_written_home = i64(1) << 20;

/// Whether they write all of so many groups there: they must not read them then, nor add to them.
constexpr bool writes_home(i64 groups, i64 bytes_of_group) { return groups <= bytes_written_home / bytes_of_group; }

} // namespace tally::v0::planning
