// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For GPU tests: a pipeline has the bits of the CPU on a GPU.
#pragma once

#include "gpu/same_arrays.hpp"
#include "gpu/watchdog.hpp"

#include <doctest/doctest.h>

/// Runs it once on the CPU, and Times on the GPU: a later run finds the workspace as the first left it.
template <int Times = 1, class R, class... Options>
void same_on_both(R const& r, Options... options) {
  auto const host = tally::run(r, tally::on::cpu, options...);
  CAPTURE(tally::v0::text_of(r));
  for (int again = 0; again < Times; ++again) {
    CHECK(same_arrays(host, tally::run(r, tally::on::gpu, options...)));
    tally_test_progress();
  }
}
