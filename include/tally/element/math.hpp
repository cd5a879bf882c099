// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tally::math: the elementary functions for float and double from one source for every back end, so that a result
// has the same bits on any CPU and any GPU. Layer 1.
//
// Only IEEE operations that are rounded the same everywhere are used: + - * /, sqrt, fma asked for by name, comparisons,
// conversions, integers; never a hardware approximation or another function of libm. Needs -ffp-contract=off and
// --fmad=false. Accuracy of each function: docs/reference/math.md.
#pragma once

#include <tally/element/math_arc.hpp>
#include <tally/element/math_erf.hpp>
#include <tally/element/math_exact.hpp>
#include <tally/element/math_exp.hpp>
#include <tally/element/math_log.hpp>
#include <tally/element/math_pow.hpp>
#include <tally/element/math_round.hpp>
#include <tally/element/math_trig.hpp>

namespace tally {
namespace math = v0::math;
} // namespace tally
