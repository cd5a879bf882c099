// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the libraries of let.py and let_groups.py share: elements written into device memory, a failure told. Test layer.
#pragma once

#include <tally/tally.hpp>

#include <cstdio>

template <class R>
int write(R const& r, float* out, void* stream) {
  try {
    tally::run_into(r, out, tally::on::gpu(0).stream(stream));
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
