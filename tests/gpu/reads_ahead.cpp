// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions that are queued behind each other: each may read while the one in front drains, and none may read what somebody else in front
// of it still writes.
#include "gpu/captured_stream.hpp"
#include "gpu/device.hpp"
#include "gpu/on_device.hpp"
#include "gpu/watchdog.hpp"

#include <tally/tally.hpp>

#include <thread>

using namespace tally::v0;

namespace {

/// A stream of the test's own, for ever.
gpu::stream_ref new_stream() {
  gpu::current_device const in_scope(gpu::device_of(0));
  gpu::driver::stream stream = nullptr;
  REQUIRE(gpu::driver_or_throw().stream_create(&stream, 1) == 0);
  return {stream};
}

/// Somebody else's kernel: lets the launch behind it begin at once, and writes its n numbers a good while later. As a launch that overlaps
/// it may itself begin while the one in front of it drains.
void write_late(float* to, long n, float value, gpu::stream_ref stream, bool overlaps) {
  gpu::unit u;
  u.header = "tally/base/config.hpp";
  u.definitions = "__global__ void write_late(float* to, long n, float value) {\n"
                  "  asm volatile(\"griddepcontrol.launch_dependents;\");\n"
                  "  unsigned long long begin, now;\n"
                  "  asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(begin));\n"
                  "  do asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(now)); while (now - begin < 200000);\n"
                  "  for (long i = threadIdx.x; i < n; i += blockDim.x) to[i] = value;\n"
                  "}\n";
  u.name_expression = "write_late";
  void* arguments[] = {&to, &n, &value};
  gpu::launch_shape shape;
  shape.block_threads = 1024;
  shape.overlaps = overlaps;
  gpu::launch(gpu::load(u, 0), shape, arguments, stream);
}

/// Queues the folds of columns of these extents, which begin everywhere within 16 bytes, and compares them with the CPU's.
template <class T = float, class Folds, class... Options>
void queued_as_on_cpu(Folds const& folds, std::vector<long> const& extents, gpu::stream_ref stream, Options... options) {
  std::vector<std::vector<T>> host;
  for (std::size_t k = 0; k < extents.size(); ++k) host.push_back(uneven_numbers<T>(std::size_t(extents[k]) + 3, unsigned(k)));
  std::vector<on_device<T>> there;
  for (auto const& h : host) there.emplace_back(h);
  auto const begin = [](std::size_t k) { return k % 4; };
  auto const queue = [&](std::size_t k) { return start(from(device(there[k].data() + begin(k), extents[k])) | folds, on::gpu.stream(stream.handle), options...); };
  std::vector<decltype(queue(0).get())> expected;
  for (std::size_t k = 0; k < extents.size(); ++k)
    expected.push_back(run(from(std::span(host[k].data() + begin(k), std::size_t(extents[k]))) | folds, on::cpu, options...));
  for (int round = 0; round < 3; ++round) {
    std::vector<decltype(queue(0))> queued;
    for (std::size_t k = 0; k < extents.size(); ++k) queued.push_back(queue(k));
    for (std::size_t k = 0; k < extents.size(); ++k) {
      CAPTURE(extents[k]);
      CHECK(same_bits(queued[k].get(), expected[k]));
    }
    tally_test_progress();
  }
}

std::vector<long> const extents{1 << 25, (1 << 22) + 1, 31,      1 << 20, 3000000, 1 << 22, 1023, 1 << 24, 1 << 25, (1 << 24) - 1,
                                100000,  1 << 21,       1 << 18, 77,      5000001, 1 << 23, 1,    2,       1 << 20, 1 << 16};

} // namespace

TEST_CASE("reductions queued behind each other have the bits of the CPU") {
  if (no_kernels()) return;
  auto const stream = new_stream();
  SUBCASE("sums") { queued_as_on_cpu(sum, extents, stream); }
  SUBCASE("five folds") { queued_as_on_cpu(reduce(sum, min, max, mean, variance), extents, stream); }
  SUBCASE("sums of narrow elements") { queued_as_on_cpu<bf16>(sum, extents, stream); }
  SUBCASE("five folds of narrow elements") { queued_as_on_cpu<bf16>(reduce(sum, min, max, mean, variance), extents, stream); }
  SUBCASE("five folds of wide elements") { queued_as_on_cpu<double>(reduce(sum, min, max, mean, variance), extents, stream); }
  SUBCASE("exact sums") { queued_as_on_cpu(sum, extents, stream, exact); }
  SUBCASE("positions, on the library's own stream") { queued_as_on_cpu(reduce(argmin, argmax, count), extents, {}); }
}

TEST_CASE("what a kernel of somebody else writes in front is waited for, however early it lets others begin") {
  if (no_kernels()) return;
  auto const stream = new_stream();
  on_device const big(uneven_numbers<float>(1 << 24));
  std::vector<float> const zeros(100000);
  on_device const x(zeros);
  auto const place = on::gpu.stream(stream.handle);
  auto const in_front = from(device(big.data(), big.size())) | sum;
  auto const behind = from(device(x.data(), x.size())) | sum;
  (void)start(in_front, place), (void)start(behind, place); // their kernels are loaded
  write_late(x.data(), x.size(), 0.f, stream, false);
  gpu::wait(0, stream);
  for (bool overlaps : {false, true})
    for (int turn = 1; turn <= 20; ++turn) {
      std::vector<pending<float>> before;
      for (int k = 0; k < turn % 4; ++k) before.push_back(start(in_front, place));
      write_late(x.data(), x.size(), float(turn), stream, overlaps);
      auto const answer = start(behind, place);
      auto const after = start(behind, place); // behind one that may not read ahead
      CAPTURE(overlaps);
      CHECK(answer.get() == float(turn) * float(x.size()));
      CHECK(after.get() == float(turn) * float(x.size()));
      tally_test_progress();
    }
}

TEST_CASE("answers that go to device memory are there for the reductions behind that read them, and for no others") {
  if (no_kernels()) return;
  auto const stream = new_stream();
  auto const place = on::gpu.stream(stream.handle);
  constexpr std::size_t parts = 8, length = 1 << 21;
  auto const numbers = uneven_numbers<float>(parts * length + 20);
  on_device const x(numbers);
  on_device const sums(std::vector(parts, 0.f)), ends(std::vector(3, 0.f));
  for (std::size_t turn = 0; turn < 20; ++turn) {
    std::vector<float> of_parts;
    for (std::size_t k = 0; k < parts; ++k) of_parts.push_back(run(from(std::span(numbers.data() + turn + k * length, length)) | sum, on::cpu));
    for (std::size_t k = 0; k < parts; ++k) enqueue(from(device(x.data() + turn + k * length, long(length))) | sum, sums.data() + k, place);
    auto const of_sums = from(device(sums.data(), sums.size()));
    enqueue(of_sums | reduce(sum, max), ends.data(), ends.data() + 1, place);
    enqueue(from(device(x.data(), x.size())) | sum, ends.data() + 2, place);
    auto const least = start(of_sums | min, place);
    CAPTURE(turn);
    CHECK(same_bits(least.get(), run(from(of_parts) | min, on::cpu)));
    auto const there = ends.back();
    CHECK(same_bits(there[0], run(from(of_parts) | sum, on::cpu)));
    CHECK(same_bits(there[1], run(from(of_parts) | max, on::cpu)));
    tally_test_progress();
  }
}

TEST_CASE("what a graph writes in front is waited for, though its kernels have numbers of their own") {
  if (no_kernels()) return;
  captured_stream stream;
  auto const place = on::gpu.stream(stream.handle());
  on_device const big(uneven_numbers<float>(1 << 24));
  on_device const x(std::vector(100000, 0.f)), sums(std::vector(2, 0.f));
  auto const in_front = from(device(big.data(), big.size())) | sum;
  auto const behind = from(device(x.data(), x.size())) | sum;
  enqueue(in_front, sums.data(), place);
  enqueue(behind, sums.data() + 1, place);
  write_late(x.data(), x.size(), 0.f, stream.ref(), false);
  gpu::wait(0, stream.ref());
  stream.capture(captured_stream::global, [&] { write_late(x.data(), x.size(), 7.f, stream.ref(), false); });
  for (int turn = 1; turn <= 20; ++turn) {
    write_late(x.data(), x.size(), float(turn), stream.ref(), false);
    enqueue(in_front, sums.data(), place);
    if (turn % 2) stream.launch();
    enqueue(behind, sums.data() + 1, place);
    gpu::wait(0, stream.ref());
    CAPTURE(turn);
    CHECK(sums.back()[1] == (turn % 2 ? 7.f : float(turn)) * float(x.size()));
    tally_test_progress();
  }
}

TEST_CASE("captured reductions read ahead of each other in a graph, and never what is written in front of them") {
  if (no_kernels()) return;
  captured_stream stream;
  auto const place = on::gpu.stream(stream.handle());
  constexpr std::size_t parts = 8, length = 300000;
  on_device const x(uneven_numbers<float>(parts * length)), late(std::vector(100000, 0.f));
  on_device const ends(std::vector<long>{5, long(2 * length)});
  on_device const sums(std::vector(parts, 0.f)), columns(std::vector(1000, 0.f)), out(std::vector(8, 0.f));
  auto const part = [&](std::size_t k) { return from(device(x.data() + k * length, long(length))) | sum; };
  auto const of_sums = from(device(sums.data(), sums.size())) | reduce(sum, max);
  auto const of_late = from(device(late.data(), late.size())) | sum;
  auto const all = from(device(x.data(), x.size()));
  auto const of_segment = all | by_segment(device(ends.data(), 2), sum);
  auto const of_matrix = from(shaped(device(x.data(), x.size()), 2400, 1000)) | reduce(over<0>(sum), sum);
  auto const of_columns = from(device(columns.data(), columns.size())) | max;
  auto const queue = [&] {
    for (std::size_t k = 0; k < parts; ++k) enqueue(part(k), sums.data() + k, place);
    enqueue(of_sums, out.data(), out.data() + 1, place); // reads what those in front write
    write_late(late.data(), late.size(), 7.f, stream.ref(), true);
    enqueue(of_late, out.data() + 2, place); // behind somebody else's kernel
    enqueue(of_late, out.data() + 3, place); // behind one that waited
    enqueue(of_segment, out.data() + 4, place);
    enqueue(of_matrix, columns.data(), out.data() + 5, place);
    enqueue(of_columns, out.data() + 6, place);
    enqueue(all | sum, out.data() + 7, place);
  };
  queue(); // their kernels are loaded
  gpu::wait(0, stream.ref());
  stream.capture(captured_stream::global, queue);
  for (int turn = 1; turn <= 20; ++turn) {
    auto const numbers = uneven_numbers<float>(parts * length, unsigned(turn));
    gpu::copy(x.data(), numbers.data(), numbers.size() * sizeof(float), 0, stream.ref());
    write_late(late.data(), late.size(), float(turn), stream.ref(), false);
    stream.launch();
    if (turn % 2) stream.launch();
    gpu::wait(0, stream.ref());
    std::vector<float> of_parts;
    for (std::size_t k = 0; k < parts; ++k) of_parts.push_back(run(from(std::span(numbers.data() + k * length, length)) | sum, on::cpu));
    auto const there = out.back();
    CAPTURE(turn);
    auto const of_parts_there = sums.back();
    for (std::size_t k = 0; k < parts; ++k) CHECK(same_bits(of_parts_there[k], of_parts[k]));
    CHECK(same_bits(there[0], run(from(of_parts) | sum, on::cpu)));
    CHECK(same_bits(there[1], run(from(of_parts) | max, on::cpu)));
    CHECK(there[2] == 7.f * float(late.size()));
    CHECK(there[3] == there[2]);
    CHECK(same_bits(there[4], run(from(std::span(numbers.data() + 5, 2 * length - 5)) | sum, on::cpu)));
    auto const [of_column, total] = run(from(shaped(numbers, 2400, 1000)) | reduce(over<0>(sum), sum), on::cpu);
    CHECK(same_bits(there[5], total));
    CHECK(same_bits(there[6], run(from(of_column) | max, on::cpu)));
    CHECK(same_bits(there[7], total));
    tally_test_progress();
  }
}

TEST_CASE("copies and host columns between queued reductions are waited for") {
  if (no_kernels()) return;
  auto const stream = new_stream();
  auto const place = on::gpu.stream(stream.handle);
  on_device const big(uneven_numbers<float>(1 << 24));
  auto const in_front = from(device(big.data(), big.size())) | sum;
  on_device const x(std::vector<float>(3000000));
  for (int turn = 1; turn <= 10; ++turn) {
    std::vector<float> const filled(std::size_t(x.size()), float(turn));
    std::vector<pending<float>> queued;
    queued.push_back(start(in_front, place));
    gpu::copy(x.data(), filled.data(), filled.size() * sizeof(float), 0, stream);
    queued.push_back(start(from(device(x.data(), x.size())) | max, place));
    queued.push_back(start(from(filled) | min, place));
    queued.push_back(start(in_front, place));
    CHECK(queued[1].get() == float(turn));
    CHECK(queued[2].get() == float(turn));
    CHECK(same_bits(queued[0].get(), queued[3].get()));
    tally_test_progress();
  }
}

TEST_CASE("threads that queue on one stream and on their own") {
  if (no_kernels()) return;
  auto const shared = new_stream();
  auto const x = uneven_numbers<float>((1 << 22) + 5);
  on_device const d(x);
  auto const expected = run(from(x) | sum, on::cpu);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t, stream = t < 2 ? shared : new_stream()] {
      std::vector<pending<float>> queued;
      for (int k = 0; k < 200; ++k) queued.push_back(start(from(device(d.data(), d.size())) | sum, on::gpu.stream(stream.handle)));
      for (auto const& q : queued) wrong[std::size_t(t)] += !same_bits(q.get(), expected);
    });
  for (auto& t : threads) t.join();
  for (int w : wrong) CHECK(w == 0);
}
