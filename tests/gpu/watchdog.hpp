// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a test that is long for a good reason (it compiles kernels, it compares many answers) says to the watchdog.
#pragma once

/// Says that something was finished: the watchdog counts from now on. Call it behind what a hung kernel would hold up.
void tally_test_progress();
