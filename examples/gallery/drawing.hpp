// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pictures of the data itself: how a column becomes a curve and an image a thumbnail, small enough to stand in the
// page. Gallery, no part of the library.
#pragma once

#include "record.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gallery {

/// A record of a column: at most 600 points {least, greatest} of equal stretches of it; null where all is NaN.
json curve_record(std::span<float const> column, std::string_view caption);

/// A record of a grey image of the given width: its brightness averaged over squares until it is at most 320 wide.
json image_record(std::span<std::uint8_t const> pixels, std::size_t width, std::string_view caption);

/// Either record as HTML; anything else as nothing.
std::string drawing_of(json const& record);

} // namespace gallery
