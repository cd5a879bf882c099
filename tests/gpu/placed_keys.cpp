// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values and their places by key on a GPU: bit for bit the answers of the CPU.
#include "gpu/keys_of_kinds.hpp"
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"
#include "gpu/watchdog.hpp"

#include <tally/tally.hpp>

using namespace tally;

TEST_CASE("values and their places by key, of every width: even, hot and rising numbers, ties, slots of nothing") {
  if (no_kernels()) return;
  auto const check = []<class T>(T one, i64 n, i64 bins, kind_of_keys kind) {
    CAPTURE(n);
    CAPTURE(bins);
    auto const keys = keys_of<i32>(kind, n, bins);
    auto x = numbers_for_keys<T>(n);
    auto const all = [&] {
      same_on_both(from(x, keys) | filter(_2 != 3) | by_key(_2, bins, argmax(_1).or_else(-1), argmin(_1).or_else(-1), first(_1).or_else(one), last(_1).or_else(one)));
      same_on_both(from(x, keys) | reduce(by_key(_2, bins, argmax(_1).or_else(-1), count), max(_1), last(_1)));
    };
    all();
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(float(i / 64)); // rising, most of the time
    all();
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = one;
    all();
  };
  for (i64 const bins : {4, 1000, 30'000, 200'000})
    for (auto const kind : {kind_of_keys::even, kind_of_keys::hot, kind_of_keys::zipf}) {
      check(1.f, 300'007, bins, kind);
      check(1., 300'007, bins, kind);
      if (bins < 5000) {
        check(bf16(1.f), 5003, bins, kind);
        check(i8(1), 5003, bins, kind);
        check(u32(1), 70'000, bins, kind);
        check(i64(1), 70'000, bins, kind);
      }
    }
  check(1.f, 300'007, 1000, kind_of_keys::one);
  auto const many = keys_of<i32>(kind_of_keys::zipf, 1 << 22, 200'000); // so many that sums beside counts are partitioned
  auto const numbers = numbers_for_keys(1 << 22);
  same_on_both(from(numbers, many) | by_key(_2, 200'000, argmax(_1).or_else(-1), sum(_1), count));
  same_on_both(from(numbers, many) | by_key(_2, 200'000, argmin(_1).or_else(-1), last(_1).or_else(0.f)));
  check(1., 300'007, 1000, kind_of_keys::sorted);
  auto const rows = keys_of<i32>(kind_of_keys::hot, 3000, 40);
  auto const x = numbers_for_keys(3000 * 33);
  auto const d = numbers_for_keys<double>(3000 * 33);
  for (i64 const bins : {40, 4000}) {
    same_on_both(from(shaped(x, 3000, 33), along<0>(rows)) | by_key<0>(_2, bins, argmax(_1).or_else(-1), last(_1).or_else(0.f)).dropping_strays());
    same_on_both(from(shaped(d, 3000, 33), along<0>(rows)) | by_key<0>(_2, bins, argmin(_1).or_else(-1), first(_1).or_else(0.)).dropping_strays());
  }
}
