// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests: the kernel that a reduction would be, compiled by the NVRTC of this machine; no GPU is needed.
#pragma once

#include <tally/tally.hpp>

#include <doctest/doctest.h>

/// True when NVRTC takes the kernel of the reduction for an H200, or when there is no NVRTC to ask.
template <class Reduction>
bool compiles_for_a_gpu(Reduction const& r) {
  auto b = tally::v0::bind(r);
  static_assert(decltype(b.program)::lowerable);
  auto request = tally::v0::detail::request_for(b.program, tally::on::gpu, tally::reproducible);
  request.f.target = tally::targets::h200;
  auto const u = tally::v0::gpu::unit_of(tally::v0::detail::type_of<decltype(b.program)>(), tally::v0::make_plan(request.f).plan, request.f);
  if (!tally::v0::gpu::can_compile()) {
    MESSAGE("not compiled: this machine has no NVRTC");
    return true;
  }
  try {
    auto const c = tally::v0::gpu::compile(u, 9, 0);
    return c.ptx.find(".entry") != std::string::npos;
  } catch (tally::compile_failed const& e) {
    MESSAGE(std::string(e.what()));
    MESSAGE(tally::v0::gpu::text_of(u));
    return false;
  }
}
