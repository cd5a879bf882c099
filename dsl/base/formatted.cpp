// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one file that {fmt} is compiled in.
#define FMT_HEADER_ONLY 1
#include <fmt/format.h>

#include "base/formatted.hpp"

namespace tally::v0 {

std::string formatted_from(fmt::string_view pattern, fmt::format_args values) { return fmt::vformat(pattern, values); }

} // namespace tally::v0
