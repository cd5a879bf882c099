// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The picture of a plan: columns at the top, the folds every element enters, the tree that combines them inside a block
// and across blocks with the planner's choices written in, and the answer at the foot. Gallery, no part of the library.
#pragma once

#include "record.hpp"

#include <string>

namespace gallery {

/// A plan as one SVG element, drawn from the JSON of `explain`; fields that are missing leave their place empty.
std::string picture_of(json const& plan);

} // namespace gallery
