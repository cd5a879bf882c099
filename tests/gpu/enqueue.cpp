// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// enqueue and prepare: answers in device memory that nobody waited for, with the bits of run, and the same from a graph that is launched
// again over other data.
#include "gpu/captured_stream.hpp"
#include "gpu/launch.hpp"
#include "gpu/room_for.hpp"
#include "gpu/same_arrays.hpp"

#include <tally/tally.hpp>

#include <algorithm>
#include <limits>
#include <span>

using namespace tally::v0;

namespace {

template <class Array, class T>
bool same(Array const& host, std::vector<T> const& there) {
  return host.size() == there.size() && std::equal(host.begin(), host.end(), there.begin(), [](T a, T b) { return same_bits(a, b); });
}

} // namespace

TEST_CASE("folds of a whole source go to device memory with the bits of run") {
  if (no_kernels()) return;
  for (std::size_t const n : {1u, 1000u, 100'003u, 3'000'001u}) {
    CAPTURE(n);
    on_device const x(uneven_numbers<float>(n));
    auto const source = from(device(static_cast<float const*>(x.data()), i64(n)));
    auto const sums = room_for<float>(3);
    auto const counts = room_for<i64>(2);
    enqueue(source | reduce(sum, max, variance, count, argmin), sums.data(), sums.data() + 1, sums.data() + 2, counts.data(), counts.data() + 1);
    auto const [total, greatest, width, elements, least] = run(source | reduce(sum, max, variance, count, argmin), on::gpu);
    CHECK(same(std::vector<float>{total, greatest, width}, after({}, sums)));
    CHECK(after({}, counts) == std::vector<i64>{elements, least});
    enqueue(source | filter(_1 > 0.f) | reduce(sum, mean), sums.data(), sums.data() + 1, on::gpu, exact);
    auto const [exact_total, exact_mean] = run(source | filter(_1 > 0.f) | reduce(sum, mean), on::gpu, exact);
    CHECK(same(std::vector<float>{exact_total, exact_mean, width}, after({}, sums)));
  }
}

TEST_CASE("an empty input has the answers of the identity") {
  if (no_kernels()) return;
  on_device const x(std::vector<float>{1.f});
  auto const nothing = from(device(static_cast<float const*>(x.data()), 0));
  auto const out = room_for<float>(3);
  auto const counted = room_for<i64>(1);
  enqueue(nothing | reduce(sum, min, max.or_else(3.f), count), out.data(), out.data() + 1, out.data() + 2, counted.data());
  CHECK(after({}, out) == std::vector<float>{0.f, std::numeric_limits<float>::infinity(), 3.f});
  CHECK(after({}, counted) == std::vector<i64>{0});
  enqueue(from(shaped(device(static_cast<float const*>(x.data()), 0), 3, 0)) | over<1>(sum), out.data());
  CHECK(after({}, out) == std::vector<float>{0.f, 0.f, 0.f});
}

TEST_CASE("groups along axes and between offsets, and as many segments as are counted on the device") {
  if (no_kernels()) return;
  auto const numbers = uneven_numbers<float>(600'000);
  on_device const x(numbers);
  auto const column = device(static_cast<float const*>(x.data()), 600'000);
  auto const matrix = from(shaped(column, 300, 2000));
  auto const rows = room_for<float>(300), columns = room_for<float>(2000);
  enqueue(matrix | over<1>(mean), rows.data());
  enqueue(matrix | over<0>(sum), columns.data());
  CHECK(same(run(from(shaped(numbers, 300, 2000)) | over<1>(mean), on::cpu), after({}, rows)));
  CHECK(same(run(from(shaped(numbers, 300, 2000)) | over<0>(sum), on::cpu), after({}, columns)));

  std::vector<int> offsets{0, 0, 5, 7, 1000, 1001, 250'000, 600'000};
  for (int k = 0; k < 1000; ++k)
    offsets.push_back(600'000);
  std::span const first_six(offsets.data(), 6);
  on_device const begins(offsets);
  i64 const most = i64(offsets.size()) - 1;
  auto const of_segments = device(static_cast<int const*>(begins.data()), most + 1);
  auto const expected = run(from(numbers) | by_segment(offsets, sum), on::cpu);
  for (int const count_there : {7, 0, -3, 5, 100'000}) {
    CAPTURE(count_there);
    on_device const number(std::vector<int>{count_there});
    auto const sums = room_for<float>(std::size_t(most));
    enqueue(from(column) | by_segment(of_segments, sum).as_many_as(number.data()), sums.data());
    auto const there = after({}, sums);
    auto const n = std::clamp<i64>(count_there, 0, most);
    bool right = true;
    for (i64 s = 0; s < most; ++s)
      right = right && same_bits(there[std::size_t(s)], s < n ? expected[std::size_t(s)] : -77.f);
    CHECK(right);
    if (count_there == 5)
      CHECK(same_arrays(run(from(column) | by_segment(of_segments, sum).as_many_as(number.data()), on::gpu),
                        run(from(numbers) | by_segment(first_six, sum), on::cpu)));
    if (count_there < 0 || count_there > most)
      CHECK_THROWS_AS(run(from(column) | by_segment(of_segments, sum).as_many_as(number.data()), on::gpu), bad_offsets);
  }
}

TEST_CASE("one segment between two offsets on the device, of any length, behind itself and in a graph") {
  if (no_kernels()) return;
  i64 const most = 80'000'000;
  auto const numbers = uneven_numbers<float>(std::size_t(most));
  on_device const x(numbers);
  auto const column = device(static_cast<float const*>(x.data()), most);
  on_device ends(std::vector<i64>{0, 1});
  auto const totals = room_for<float>(2);
  auto const places = room_for<i64>(2);
  auto const of_segment = from(column) | by_segment(device(static_cast<i64 const*>(ends.data()), 2), sum, variance, argmax, count);
  captured_stream stream;
  auto const where = on::gpu.stream(stream.handle());
  auto const queue = [&] { enqueue(of_segment, totals.data(), totals.data() + 1, places.data(), places.data() + 1, where); };
  prepare(of_segment, totals.data(), totals.data() + 1, places.data(), places.data() + 1, where);
  CHECK(after(stream.ref(), totals) == std::vector<float>{-77.f, -77.f});
  stream.capture(captured_stream::global, queue);
  for (i64 const n : {i64(1), i64(1000), i64(8193), i64(70'001), i64(600'000), i64(1'100'003), i64(9'000'000), i64(33'000'001), most - 3, i64(0)})
    for (i64 const begin : {0, 3}) {
      CAPTURE(n);
      CAPTURE(begin);
      std::vector<i64> const now{begin, begin + n};
      gpu::copy(ends.data(), now.data(), sizeof(i64) * 2, 0, stream.ref());
      auto const [sums, spreads, greatest, counts] = run(from(numbers) | by_segment(now, sum, variance, argmax, count), on::cpu);
      for (int again = 0; again < 4; ++again) {
        if (again % 2 == 0)
          queue();
        else
          stream.launch();
        if (again == 2)
          queue();
        CHECK(same(std::vector<float>{sums[0], spreads[0]}, after(stream.ref(), totals)));
        CHECK(after(stream.ref(), places) == std::vector<i64>{greatest[0], counts[0]});
      }
    }
  std::vector<i64> const wrong{-9, most + 1000};
  gpu::copy(ends.data(), wrong.data(), sizeof(i64) * 2, 0, stream.ref());
  queue();
  CHECK(after(stream.ref(), places)[1] == most);
}

TEST_CASE("columns, rows and the whole of matrices, in one launch where they make one") {
  if (no_kernels()) return;
  i64 const most = 2048 * 3000;
  auto const numbers = uneven_numbers<float>(std::size_t(most));
  on_device const x(numbers);
  auto const columns = room_for<float>(8000), rows = room_for<float>(8000), whole = room_for<float>(2);
  auto const places = room_for<i64>(8000), elements = room_for<i64>(1);
  struct matrix {
    i64 rows, columns;
  };
  for (matrix const& of : {matrix{2048, 3000}, {3000, 2048}, {1024, 4096}, {1000, 2027}, {300, 70}}) {
    i64 const r = of.rows, c = of.columns;
    CAPTURE(r);
    CAPTURE(c);
    auto const folds = reduce(over<0>(mean), count, over<1>(max, argmax), variance, sum);
    auto const on_host = run(from(shaped(numbers.data(), r, c)) | folds, on::cpu);
    auto const [of_columns, n, of_rows, spread, total] = on_host;
    for (int again = 0; again < 3; ++again) {
      enqueue(from(shaped(static_cast<float const*>(x.data()), r, c)) | folds, columns.data(), elements.data(), rows.data(), places.data(), whole.data(),
              whole.data() + 1);
      auto const prefix = [](auto there, i64 extent) { return there.resize(std::size_t(extent)), there; };
      CHECK(same(of_columns, prefix(after({}, columns), c)));
      CHECK(same(std::get<0>(of_rows), prefix(after({}, rows), r)));
      auto const greatest_at = places.back();
      CHECK(std::equal(greatest_at.begin(), greatest_at.begin() + r, std::get<1>(of_rows).begin()));
      CHECK(same(std::vector<float>{spread, total}, after({}, whole)));
      CHECK(after({}, elements) == std::vector<i64>{n});
    }
  }
}

TEST_CASE("rows and the whole of matrices that L2 does not hold, queued as one read") {
  if (no_kernels()) return;
  i64 const r = 20'000;
  auto const numbers = uneven_numbers<float>(std::size_t(r * 1536));
  on_device const x(numbers);
  auto const rows = room_for<float>(std::size_t(r)), whole = room_for<float>(2);
  for (i64 const c : {1024, 1500, 1536}) {
    CAPTURE(c);
    auto const folds = reduce(over<1>(mean), variance, sum);
    auto const [of_rows, spread, total] = run(from(shaped(numbers.data(), r, c)) | folds, on::cpu);
    enqueue(from(shaped(static_cast<float const*>(x.data()), r, c)) | folds, rows.data(), whole.data(), whole.data() + 1);
    CHECK(same(of_rows, after({}, rows)));
    CHECK(same(std::vector<float>{spread, total}, after({}, whole)));
  }
}

TEST_CASE("columns, rows and the whole of every matrix of a batch, or of all, queued as one read") {
  if (no_kernels()) return;
  i64 const n = 9, r = 500, c = 2048;
  auto const numbers = uneven_numbers<float>(std::size_t(n * r * c));
  on_device const x(numbers);
  auto const columns = room_for<float>(std::size_t(n * c)), rows = room_for<float>(std::size_t(n * r)), each = room_for<float>(std::size_t(n)), whole = room_for<float>(1);
  auto const greatest = room_for<i64>(std::size_t(n));
  auto const here = from(shaped(numbers.data(), n, r, c)), there = from(shaped(static_cast<float const*>(x.data()), n, r, c));
  auto const folds = reduce(over<1>(sum), over<1, 2>(mean, argmax), over<2>(mean), sum);
  auto const [of_columns, of_each, of_rows, total] = run(here | folds, on::cpu);
  for (int again = 0; again < 2; ++again) {
    enqueue(there | folds, columns.data(), each.data(), greatest.data(), rows.data(), whole.data());
    CHECK(same(of_columns, after({}, columns)));
    CHECK(same(of_rows, after({}, rows)));
    CHECK(same(std::get<0>(of_each), after({}, each)));
    auto const at = after({}, greatest);
    CHECK(std::equal(at.begin(), at.end(), std::get<1>(of_each).begin(), std::get<1>(of_each).end()));
    CHECK(same(std::vector<float>{total}, after({}, whole)));
    enqueue(there | reduce(over<1>(sum), over<2>(mean), sum), columns.data(), rows.data(), whole.data());
    CHECK(same(of_columns, after({}, columns)));
    CHECK(same(of_rows, after({}, rows)));
    CHECK(same(std::vector<float>{total}, after({}, whole)));
  }
}

TEST_CASE("matrices behind each other: what one reads that the one in front writes is there") {
  if (no_kernels()) return;
  i64 const r = 2048, c = 4096;
  auto numbers = uneven_numbers<float>(std::size_t(r * c) + 64);
  on_device const x(numbers);
  auto const columns = room_for<float>(std::size_t(c)), rows = room_for<float>(std::size_t(r));
  auto const of_rows = room_for<float>(2), whole = room_for<float>(1);
  captured_stream stream;
  auto const where = on::gpu.stream(stream.handle());
  for (std::size_t turn = 0; turn < 10; ++turn) {
    CAPTURE(turn);
    auto const at = numbers.data() + 4 * turn;
    auto const there = static_cast<float const*>(x.data()) + 4 * turn;
    auto const folds = reduce(over<0>(sum), over<1>(sum), sum);
    for (int again = 0; again < 3; ++again) // of the numbers before, into the same places
      enqueue(from(shaped(there - (turn > 0 ? 4 : 0), r, c)) | folds, columns.data(), rows.data(), whole.data(), where);
    enqueue(from(shaped(there, r, c)) | folds, columns.data(), rows.data(), whole.data(), where);
    enqueue(from(device(static_cast<float const*>(rows.data()), r)) | reduce(sum, max), of_rows.data(), of_rows.data() + 1, where);
    auto const [host_columns, host_rows, total] = run(from(shaped(at, r, c)) | folds, on::cpu);
    CHECK(same(host_columns, after(stream.ref(), columns)));
    CHECK(same(host_rows, after(stream.ref(), rows)));
    CHECK(same_bits(total, whole.back()[0]));
    auto const [sum_of_rows, greatest] = run(from(host_rows) | reduce(sum, max), on::cpu);
    CHECK(same(std::vector<float>{sum_of_rows, greatest}, of_rows.back()));
  }
}

TEST_CASE("wrong offsets leave nothing behind for whoever comes next on the stream") {
  if (no_kernels()) return;
  auto const numbers = uneven_numbers<float>(300'000);
  on_device const x(numbers);
  on_device const right(std::vector<int>{0, 100, 300'000}), wrong(std::vector<int>{0, 400'000, 3});
  auto const column = device(static_cast<float const*>(x.data()), 300'000);
  auto const sums = room_for<float>(2);
  auto const by = [&](auto const& offsets) { return from(column) | by_segment(device(static_cast<int const*>(offsets.data()), 3), sum); };
  auto const expected = run(by(right), on::gpu);
  for (int again = 0; again < 3; ++again) {
    enqueue(by(wrong), sums.data());
    enqueue(by(right), sums.data());
    CHECK(same(expected, after({}, sums)));
    CHECK(same_arrays(expected, run(by(right), on::gpu)));
    CHECK_THROWS_AS(run(by(wrong), on::gpu), bad_offsets);
  }
}

TEST_CASE("a graph captured after prepare computes again over other data and other counts") {
  if (no_kernels()) return;
  std::size_t const n = 500'000;
  on_device x(uneven_numbers<float>(n, 1));
  std::vector<i64> const offsets{0, 10, 200'000, 500'000, 500'000};
  on_device const begins(offsets), number(std::vector<i64>{3});
  auto const column = device(static_cast<float const*>(x.data()), i64(n));
  auto const totals = room_for<float>(1), rows = room_for<float>(1000), sums = room_for<float>(4);
  captured_stream stream;
  auto const where = on::gpu.stream(stream.handle());
  auto const total = from(column) | sum;
  auto const of_rows = from(shaped(column, 1000, 500)) | over<1>(max);
  auto const of_segments = from(column) | by_segment(device(static_cast<i64 const*>(begins.data()), 5), sum).as_many_as(number.data());
  prepare(total, totals.data(), where);
  prepare(of_rows, rows.data(), where);
  prepare(of_segments, sums.data(), where);
  CHECK(after(stream.ref(), totals) == std::vector<float>{-77.f}); // nothing was queued
  stream.capture(captured_stream::global, [&] {
    enqueue(total, totals.data(), where);
    enqueue(of_rows, rows.data(), where);
    enqueue(of_segments, sums.data(), where);
  });
  for (unsigned seed = 1; seed < 5; ++seed) {
    auto const numbers = uneven_numbers<float>(n, seed);
    std::vector<i64> const count_now{i64(seed)};
    gpu::copy(x.data(), numbers.data(), n * sizeof(float), 0, stream.ref());
    gpu::copy(number.data(), count_now.data(), sizeof(i64), 0, stream.ref());
    stream.launch();
    CHECK(same_bits(after(stream.ref(), totals)[0], run(from(numbers) | sum, on::cpu)));
    CHECK(same(run(from(shaped(numbers, 1000, 500)) | over<1>(max), on::cpu), after(stream.ref(), rows)));
    auto const expected = run(from(numbers) | by_segment(offsets, sum), on::cpu);
    auto const there = after(stream.ref(), sums);
    for (unsigned s = 0; s < seed; ++s)
      CHECK(same_bits(there[s], expected[s]));
  }
}

TEST_CASE("walks that take turns are queued as one, by themselves and in a graph") {
  if (no_kernels()) return;
  std::size_t const n = 3'000'000;
  on_device x(uneven_numbers<float>(n, 1));
  std::vector<i64> const offsets{0, 10, 200'000, 500'000, 500'000, 2'900'000}, others{5, 70'000, 1'000'000};
  on_device const begins(offsets), other_begins(others);
  auto const column = device(static_cast<float const*>(x.data()), i64(n));
  auto const by = device(static_cast<i64 const*>(begins.data()), i64(offsets.size()));
  auto const by_others = device(static_cast<i64 const*>(other_begins.data()), i64(others.size()));
  auto const totals = room_for<float>(1), sums = room_for<float>(5), greatest = room_for<float>(2), means = room_for<float>(1);
  captured_stream stream;
  auto const where = on::gpu.stream(stream.handle());
  auto const together = from(column) | reduce(sum, by_segment(by, sum), by_segment(by_others, max), mean);
  auto const alone = from(column) | reduce(by_segment(by, sum), by_segment(by_others, max));
  CHECK(explain(together, on::gpu).details().in_turns.joins);
  prepare(together, totals.data(), sums.data(), greatest.data(), means.data(), where);
  prepare(alone, sums.data(), greatest.data(), where);
  CHECK(after(stream.ref(), totals) == std::vector<float>{-77.f}); // nothing was queued
  stream.capture(captured_stream::global, [&] {
    enqueue(together, totals.data(), sums.data(), greatest.data(), means.data(), where);
    enqueue(alone, sums.data(), greatest.data(), where);
  });
  for (unsigned seed = 1; seed < 4; ++seed) {
    auto const numbers = uneven_numbers<float>(n, seed);
    gpu::copy(x.data(), numbers.data(), n * sizeof(float), 0, stream.ref());
    stream.launch();
    auto const expected = run(from(numbers) | reduce(sum, by_segment(offsets, sum), by_segment(others, max), mean), on::cpu);
    CHECK(same_bits(after(stream.ref(), totals)[0], std::get<0>(expected)));
    CHECK(same_bits(after(stream.ref(), means)[0], std::get<3>(expected)));
    CHECK(same(std::get<1>(expected), after(stream.ref(), sums)));
    CHECK(same(std::get<2>(expected), after(stream.ref(), greatest)));
    enqueue(together, totals.data(), sums.data(), greatest.data(), means.data());
    CHECK(same(std::get<1>(expected), after({}, sums)));
    CHECK(same_bits(after({}, totals)[0], std::get<0>(expected)));
  }
}

TEST_CASE("what was not prepared is refused under capture, and host memory always") {
  if (no_kernels()) return;
  on_device const x(uneven_numbers<double>(4'000'000));
  auto const out = room_for<double>(4'000'000);
  auto const column = device(static_cast<double const*>(x.data()), 4'000'000);
  captured_stream stream;
  auto const where = on::gpu.stream(stream.handle());
  stream.capture(captured_stream::relaxed, [&] { CHECK_THROWS_AS(enqueue(from(column) | sum, out.data(), where), not_prepared); });
  std::vector<double> const here(10);
  double total = 0;
  CHECK_THROWS_AS(enqueue(from(here) | sum, out.data()), wrong_residence);
  CHECK_THROWS_AS(enqueue(from(column) | sum, &total), wrong_residence);
  std::vector<int> const offsets{0, 3};
  CHECK_THROWS_AS(enqueue(from(column) | by_segment(offsets, sum), out.data()), wrong_residence);
  CHECK_THROWS_AS(enqueue(from(column) | sum, static_cast<double*>(nullptr)), null_column);
}
