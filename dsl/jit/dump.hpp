// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TALLY_DUMP=cuda:DIR,ptx:DIR (or plan,cuda,ptx:DIR): texts that a person wants to see as files. Compiled side, jit.
#pragma once

#include <string>
#include <string_view>

namespace tally::v0::jit {

/// The folder that TALLY_DUMP names for `kind`; empty when it names none. `setting` may be null.
std::string dump_folder(char const* setting, std::string_view kind);
/// Writes `text` to <folder of kind>/<name>; nothing when TALLY_DUMP does not name the kind, a log line when it cannot.
void dump(std::string_view kind, std::string const& name, std::string_view text);

} // namespace tally::v0::jit
