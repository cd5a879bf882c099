// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The promise of `reproducible` between the CPU and a GPU: every case of the table of folds has the same bits, from device
// memory at every misalignment, from host memory, at ragged sizes, behind rings, with NaN, infinities and -0 at every
// position, run after run and on two streams at once. And `fast` comes close.
#include "gpu/launch.hpp"
#include "gpu/on_device.hpp"
#include "gpu/watchdog.hpp"
#include "laws/table/fold_case.hpp"

#include <tally/run/gpu_door.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace fold_table;
namespace gpu = tally::v0::gpu;

namespace {

i64 leaf_of(int bytes) { return i64(32) * (16 / bytes > 8 ? 8 : 16 / bytes) * 8; }

/// What went wrong, collected from many threads and checked by one.
class complaints {
public:
  void add(std::string const& sentence) {
    std::scoped_lock const lock(guard_);
    if (++number_ <= 20) all_ += "\n  " + sentence;
  }
  void check() const {
    INFO(number_ << " complaints:" << all_);
    CHECK(number_ == 0);
  }

private:
  std::mutex guard_;
  int number_ = 0;
  std::string all_;
};

std::string described(fold_case const& c, i64 n, answers const& expected, answers const& got, std::string const& how) {
  std::string s = c.name + " of " + std::to_string(n) + " elements, " + how + ":";
  for (std::size_t i = 0; i < expected.bits.size(); ++i)
    if (expected.bits[i] != got.bits[i])
      s += " answer " + std::to_string(i) + " is " + std::to_string(got.values[i]) + " and not " +
           std::to_string(expected.values[i]) + ";";
  return s + " " + c.contents;
}

void compare(complaints& to, fold_case const& c, i64 n, answers const& expected, answers const& got, std::string const& how) {
  if (expected.bits != got.bits) to.add(described(c, n, expected, got, how));
}

/// Calls work(case) for every case for which `wanted` holds, on all cores: most of the time is the kernel compiler's.
void for_each_case(complaints& to, std::function<bool(fold_case const&)> const& wanted,
                   std::function<void(fold_case const&)> const& work) {
  auto const& cases = all_cases();
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> crew;
  for (unsigned t = 0; t < std::max(2u, std::thread::hardware_concurrency()); ++t)
    crew.emplace_back([&] {
      for (std::size_t i; (i = next++) < cases.size();)
        if (wanted(*cases[i])) try {
            work(*cases[i]);
            tally_test_progress();
          } catch (std::exception const& e) {
            to.add(cases[i]->name + ": " + e.what());
          }
    });
}
bool every_case(fold_case const&) { return true; }
bool takes_specials(fold_case const& c) { return !c.specials(1, 0, 0, 0).empty() && c.name != "iota"; }

/// Bytes in device memory that start `skip` behind a border of 256.
class in_device_memory {
public:
  in_device_memory(std::vector<std::byte> const& bytes, std::size_t skip)
      : memory_(gpu::allocate(bytes.size() + skip + 16, 0)), start_(static_cast<std::byte*>(memory_.data()) + skip) {
    if (!bytes.empty()) gpu::copy(start_, bytes.data(), bytes.size(), 0);
    gpu::wait(0);
  }
  std::byte const* data() const { return start_; }

private:
  gpu::device_memory memory_;
  std::byte* start_;
};

/// A size at which every ring of the planner's has something to fill ahead (plan/load.hpp), and a ragged end.
i64 ring_size(fold_case const& c) {
  i64 const leaf = leaf_of(c.element_bytes);
  return (i64(gpu::facts_of(0).multiprocessors) * 16 * 8 + 1) * leaf + leaf / 2 + 17;
}

/// The numbers, repeated until they are n elements: quick to make when n is large.
std::vector<std::byte> many_numbers(fold_case const& c, i64 n) {
  auto bytes = c.numbers(std::min(n, i64(999983)));
  std::size_t const period = bytes.size(), whole = static_cast<std::size_t>(n) * static_cast<std::size_t>(c.element_bytes);
  bytes.resize(whole);
  for (std::size_t at = period; at < whole; at += period)
    std::copy_n(bytes.begin(), std::min(period, whole - at), bytes.begin() + std::ptrdiff_t(at));
  return bytes;
}

} // namespace

TEST_CASE("every kernel of the table compiles and loads") { // on all cores: the tests below find them ready
  if (no_kernels()) return;
  complaints wrong;
  std::vector<std::pair<std::string, gpu::unit>> units;
  auto const target = gpu::target_of(0);
  for (auto const& c : all_cases())
    for (auto promise : {tally::v0::contract::reproducible, tally::v0::contract::fast})
      for (int alignment : {0, c->element_bytes})
        for (i64 n : {i64(100000), ring_size(*c)})
          if (alignment == 0 || n == 100000) units.emplace_back(c->name, c->unit(n, alignment, target, promise));
  std::shuffle(units.begin(), units.end(), std::mt19937(std::random_device{}())); // processes that share a cache share the work
  std::atomic<std::size_t> next{0};
  {
    std::vector<std::jthread> crew;
    for (unsigned t = 0; t < std::max(2u, std::thread::hardware_concurrency()); ++t)
      crew.emplace_back([&] {
        for (std::size_t i; (i = next++) < units.size();) try {
            gpu::load(units[i].second, 0);
            tally_test_progress();
          } catch (std::exception const& e) {
            wrong.add(units[i].first + ": " + e.what());
          }
      });
  }
  wrong.check();
}

TEST_CASE("from device memory at every misalignment, every fold of every type has the bits of the CPU") {
  if (no_kernels()) return;
  complaints wrong;
  for_each_case(wrong, every_case, [&](fold_case const& c) {
    i64 const leaf = leaf_of(c.element_bytes), lanes = leaf / 8;
    for (i64 n : {leaf - 1, leaf, leaf + 1, 3 * leaf + lanes + 5, 70 * leaf + 333})
      for (std::size_t skip = 0; skip < 16; skip += static_cast<std::size_t>(c.element_bytes)) {
        auto const bytes = c.numbers(n);
        compare(wrong, c, n, c.on_cpu(bytes.data(), n, 1), c.on_gpu(in_device_memory(bytes, skip).data(), n),
                "misaligned by " + std::to_string(skip));
      }
  });
  wrong.check();
}

TEST_CASE("from device memory, ragged and large sizes have the bits of the CPU") {
  if (no_kernels()) return;
  complaints wrong;
  for_each_case(wrong, every_case, [&](fold_case const& c) {
    i64 const leaf = leaf_of(c.element_bytes);
    std::vector<i64> sizes;
    for (i64 n = 0; n <= 300; ++n) sizes.push_back(n);
    for (i64 n : {8 * leaf, 16 * leaf - 1, 16 * leaf + 1, 64 * leaf, 512 * leaf + 1, i64(1) << 20}) sizes.push_back(n);
    for (i64 n : {(i64(1) << 20) - 1, (i64(1) << 20) + 1, i64(1000007)}) sizes.push_back(n);
    for (i64 n : sizes) {
      auto const bytes = c.numbers(n);
      compare(wrong, c, n, c.on_cpu(bytes.data(), n, 1), c.on_gpu(in_device_memory(bytes, 0).data(), n), "aligned");
    }
  });
  wrong.check();
}

TEST_CASE("from host memory, which is staged, every fold of every type has the bits of the CPU") {
  if (no_kernels()) return;
  complaints wrong;
  for_each_case(wrong, every_case, [&](fold_case const& c) {
    for (i64 n : {i64(1), i64(33), i64(100003)}) {
      auto bytes = c.numbers(n + 1);
      auto const* const at = bytes.data();
      compare(wrong, c, n, c.on_cpu(at, n, 1), c.on_gpu(at, n), "staged");
      compare(wrong, c, n, c.on_cpu(at + c.element_bytes, n, 1), c.on_gpu(at + c.element_bytes, n), "staged, misaligned");
    }
  });
  wrong.check();
}

TEST_CASE("where the planner uses rings, the bits are still those of the CPU") {
  if (no_kernels()) return;
  complaints wrong;
  for_each_case(wrong, every_case, [&](fold_case const& c) {
    i64 const n = ring_size(c);
    auto const bytes = many_numbers(c, n);
    compare(wrong, c, n, c.on_cpu(bytes.data(), n, 1), c.on_gpu(in_device_memory(bytes, 0).data(), n), "aligned");
  });
  wrong.check();
}

TEST_CASE("NaN, infinities, -0 and denormals have the bits of the CPU at every position of up to 300 elements") {
  if (no_kernels()) return;
  complaints wrong;
  for_each_case(wrong, takes_specials, [&](fold_case const& c) {
    auto const size = static_cast<std::size_t>(c.element_bytes);
    for (i64 n = 1; n <= 300; ++n) {
      std::size_t const apart = (static_cast<std::size_t>(n) * size + 15) / 16 * 16;
      std::vector<std::byte> all(apart * static_cast<std::size_t>(n));
      auto const place = [&](i64 at) { return static_cast<std::size_t>(at) * apart; };
      for (i64 at = 0; at < n; ++at) {
        auto const bytes = c.specials(n, at, int((n + at) % special_count), int((n / 2 + at) % other_count));
        std::copy(bytes.begin(), bytes.end(), all.begin() + std::ptrdiff_t(place(at)));
      }
      in_device_memory const there(all, 0);
      for (i64 at = 0; at < n; ++at)
        compare(wrong, c, n, c.on_cpu(all.data() + place(at), n, 1), c.on_gpu(there.data() + place(at), n),
                "special " + std::to_string((n + at) % special_count) + " at " + std::to_string(at));
    }
  });
  wrong.check();
}

TEST_CASE("2^31 + 3 elements have the bits of the CPU") {
  if (no_kernels()) return;
  complaints wrong;
  i64 const n = (i64(1) << 31) + 3;
  auto const& elements = case_named("u8 free");
  auto const bytes = many_numbers(elements, n);
  in_device_memory const there(bytes, 0);
  for (char const* name : {"u8 free", "u8 tree"}) {
    auto const& c = case_named(name);
    compare(wrong, c, n, c.on_cpu(bytes.data(), n, 0), c.on_gpu(there.data(), n), "aligned");
  }
  wrong.check();
}

TEST_CASE("ten thousand runs in a row leave the workspace clean") {
  if (no_kernels()) return;
  auto const& c = case_named("f32 tree");
  auto const bytes = c.numbers(1000007);
  in_device_memory const there(bytes, 0);
  std::vector<i64> const sizes{5, 1000007, 100003, 1025, 4096 * 1024 / 5};
  std::vector<answers> expected;
  for (i64 n : sizes) expected.push_back(c.on_cpu(bytes.data(), n, 1));
  int other = 0;
  for (int k = 0; k < 10000; ++k) {
    auto const which = static_cast<std::size_t>(k * k + k / 7) % sizes.size();
    other += c.on_gpu(there.data(), sizes[which]).bits != expected[which].bits ? 1 : 0;
  }
  CHECK(other == 0);
}

TEST_CASE("two streams at once, and two threads on one stream, do not disturb each other") {
  if (no_kernels()) return;
  complaints wrong;
  auto const work = [&](char const* name, void* stream, int salt) {
    auto const& c = case_named(name);
    i64 const largest = 300000;
    auto const bytes = c.numbers(largest);
    in_device_memory const there(bytes, 0);
    for (int k = 0; k < 300; ++k) {
      i64 const n = (i64(k) * 7919 * 31 + salt) % largest + 1;
      compare(wrong, c, n, c.on_cpu(bytes.data(), n, 1), c.on_gpu(there.data(), n, tally::v0::contract::reproducible, stream),
              "on a stream of its own");
    }
  };
  for (bool const own_streams : {true, false}) {
    gpu::driver::stream streams[2] = {nullptr, nullptr};
    if (own_streams) {
      gpu::current_device const in_scope(gpu::device_of(0));
      for (auto& s : streams) REQUIRE(gpu::driver_or_throw().stream_create(&s, 1) == 0);
    }
    std::jthread const one([&] { work("f32 tree", streams[0], 1); });
    std::jthread const two([&] { work("u64 own folds", streams[1], 2); });
  }
  wrong.check();
}

TEST_CASE("the fast contract comes close to the reproducible one, for every fold") {
  if (no_kernels()) return;
  complaints wrong;
  for_each_case(wrong, every_case, [&](fold_case const& c) {
    i64 const n = 1000003;
    auto bytes = c.numbers(n);
    if (takes_specials(c)) // positive numbers, so that nothing cancels and a relative error says something
      for (auto at = static_cast<std::size_t>(c.element_bytes) - 1; at < bytes.size(); at += static_cast<std::size_t>(c.element_bytes))
        bytes[at] &= std::byte{0x7f};
    in_device_memory const there(bytes, 0);
    auto const expected = c.on_cpu(bytes.data(), n, 1), got = c.on_gpu(there.data(), n, tally::v0::contract::fast);
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      double const a = expected.values[i], b = got.values[i];
      if (expected.bits[i] != got.bits[i] && !(std::fabs(a - b) <= 1e-4 * std::fabs(a)))
        wrong.add(c.name + ", answer " + std::to_string(i) + ": " + std::to_string(b) + " and not about " + std::to_string(a) +
                  ": " + c.contents);
    }
  });
  wrong.check();
}
