// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the library's own words go: lines chosen by TALLY_LOG=topic,topic (cache, jit, gpu, or all), printed on stderr
// unless a program takes them over. Layer 5.
#pragma once

#include <string_view>

namespace tally::v0 {

/// Receives one line, without its newline; may be called from any thread.
using log_sink = void (*)(std::string_view topic, std::string_view line);
/// Replaces the sink (null: stderr again) and returns the one before.
log_sink set_log_sink(log_sink) noexcept;
/// True when TALLY_LOG names `topic`.
bool logs(std::string_view topic) noexcept;
/// Prints one line when TALLY_LOG names `topic`.
void log_line(std::string_view topic, std::string_view line);

} // namespace tally::v0
