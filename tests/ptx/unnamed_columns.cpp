// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine code of reads beside columns that nothing names: it loads what a read of the named columns alone loads. Needs NVRTC, no GPU.
#include "ptx/kernel_text.hpp"

using namespace tally;

namespace {

float const* one() { return made_up::address<float>(); }
/// Another column, far behind.
float const* other() { return made_up::address<float>() + (i64(1) << 33); }

/// Loads from memory and copies of the bulk engine, in all kernels of a reduction.
template <class R>
long loads(R const& r) {
  std::string const text = explain(r, targets::h200).ptx();
  long n = 0;
  for (std::string const word : {"ld.global", "cp.async.bulk.shared", "cp.async.ca"})
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++n;
  return n;
}
template <class R, class Alone>
void loads_alike(R const& r, Alone const& alone) {
  CAPTURE(text_of(r));
  long const all = loads(alone);
  CHECK(all > 0);
  CHECK(loads(r) == all);
}

} // namespace

TEST_CASE("every route loads the named columns alone") {
  if (!ptx::can_compile()) return;
  constexpr i64 n = i64(1) << 28;
  auto const x = device(one(), n), y = device(other(), n);
  auto const m = shaped(one(), 65536, 4096), w = shaped(other(), 65536, 4096);
  auto const k = device(reinterpret_cast<int const*>(one()), n);
  loads_alike(from(x, y) | sum(_1), from(x) | sum(_1));
  loads_alike(from(m, w) | over<0>(sum(_1)), from(m) | over<0>(sum(_1)));
  loads_alike(from(m, w) | over<1>(sum(_1)), from(m) | over<1>(sum(_1)));
  loads_alike(from(m, w) | reduce(over<0>(sum(_1)), over<1>(sum(_1)), sum(_1)), from(m) | reduce(over<0>(sum(_1)), over<1>(sum(_1)), sum(_1)));
  loads_alike(from(k, y) | by_key(_1, 100, count), from(k) | by_key(_1, 100, count));
  loads_alike(from(k, x, y) | by_key(_1, 100, sum(_2)), from(k, x) | by_key(_1, 100, sum(_2)));
  loads_alike(from(k, y) | reduce(sum(_1), by_key(_1, 100, count)), from(k) | reduce(sum(_1), by_key(_1, 100, count)));
  loads_alike(from(x, y) | by_segment(device(reinterpret_cast<i64 const*>(other()), 1001), sum(_1)),
              from(x) | by_segment(device(reinterpret_cast<i64 const*>(other()), 1001), sum(_1)));
  loads_alike(from(x, y) | map(_1 * 2.f) | collect, from(x) | map(_1 * 2.f) | collect);
}
