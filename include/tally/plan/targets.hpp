// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chips that plans can be made for without one at hand. Layer 3.
#pragma once

#include <tally/plan/facts.hpp>

namespace tally::v0::targets {

/// The cores of this machine; what they read per second is not known beforehand.
inline constexpr target host{0, 0, 0, 1, 0, 0, 0, 0};

/// What a pure read reaches of the rate in a data sheet: 95 % on an H200 (below), 90 % on an H100 (3.03 of 3.35 TB/s, 2026-11-25, tests/bench/let.py).
inline constexpr double part_of_rate_read = 0.92;

/// NVIDIA A100 80 GB (sm_80); rates from its data sheet, not measured here.
inline constexpr target a100{8, 0, 108, 1, 163 * 1024, i64(40) << 20, 1.9e12, 3.0e-6};
/// NVIDIA H200 (sm_90): best pure read 4.65 TB/s, empty kernels back to back 3.1 us (2026-11-20, CUDA 13.0, sums of 2^30
/// f32 and back-to-back launches; docs/measured).
inline constexpr target h200{9, 0, 132, 8, 227 * 1024, i64(60) << 20, 4.65e12, 3.1e-6, 16};
/// NVIDIA B200 (sm_100); rates from its data sheet, not measured here.
inline constexpr target b200{10, 0, 148, 8, 227 * 1024, i64(126) << 20, 7.7e12, 3.0e-6, 16};
/// NVIDIA RTX PRO 6000 Blackwell (sm_120); rates from its data sheet, not measured here.
inline constexpr target rtx_pro_6000{12, 0, 188, 8, 99 * 1024, i64(128) << 20, 1.79e12, 3.0e-6, 8};

} // namespace tally::v0::targets
