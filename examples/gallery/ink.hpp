// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text for the page: how it is escaped, coloured and broken into lines. Gallery, no part of the library.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gallery {

/// Text that is safe inside an HTML or SVG element and inside a quoted attribute.
std::string escaped(std::string_view text);

/// C++ as HTML: comments, strings, numbers, placeholders and the language's words in spans of their own class.
std::string coloured(std::string_view code);

/// Text broken at spaces, and inside words that are too long, into lines of at most `width` characters.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// A number of bytes as people say it: 672 KiB, 1.0 GiB.
std::string bytes_text(double bytes);

/// A duration as people say it: 21 us, 3.4 ms.
std::string seconds_text(double seconds);

} // namespace gallery
