// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compiled kernel does to memory and between threads, read from its PTX: thousands of lines become a few. Gallery,
// no part of the library.
#pragma once

#include <string>
#include <string_view>

namespace gallery {

/// The loads, stores, shuffles, barriers, reductions and copies of a kernel, one a line with how often it is written;
/// other instructions are left out.
std::string traffic_of(std::string_view ptx);

} // namespace gallery
