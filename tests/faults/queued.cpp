// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Full reductions that are queued behind each other, from the host's side: one kernel each, and which of them may read before the one in
// front is done. The driver is made of host memory, so on every machine with NVRTC. What they compute is tests/gpu/reads_ahead.cpp.
#include "faults/fake_driver.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace tally::v0;

/// The order that kernels are launched with, as kernel/launch_order.cuh has it.
struct launch_order {
  void* last;
  u64 number;
  unsigned first_blocks;
};

/// A column and room for answers in the memory of the device that the fake is, and a stream of its own.
struct queue_of_sums {
  static constexpr std::size_t elements = 1 << 20, answers = 200;
  fake_driver& fake = fake_driver::in_place();
  gpu::device_memory column = gpu::allocate(elements * sizeof(float), 0), out = gpu::allocate(answers * sizeof(float), 0);
  int stream = 0;
  std::vector<launch_order> orders;
  queue_of_sums() {
    fake.kernel = [this](void** arguments) { orders.push_back(*static_cast<launch_order const*>(arguments[3])); };
  }
  ~queue_of_sums() {
    fake.kernel = [](void**) {};
  }
  auto place() { return on::gpu.stream(&stream); }
  float* answer(std::size_t k) { return static_cast<float*>(out.data()) + k; }
  auto of_column() { return from(device(static_cast<float const*>(column.data()), i64(elements))) | sum; }
  auto of_answers(std::size_t first, std::size_t count) { return from(device(static_cast<float const*>(answer(first)), i64(count))) | sum; }
  bool read_ahead() const { return orders.back().last != nullptr && orders.back().first_blocks > 0; }
  bool waited() const { return orders.back().last != nullptr && orders.back().first_blocks == 0; }
};

} // namespace

TEST_SUITE("fake driver" * doctest::skip()) {
  TEST_CASE("queued reductions: one kernel each, which waits where it reads an answer that may not be there yet") {
    if (!gpu::can_compile()) {
      MESSAGE("skipped: this machine has no NVRTC");
      return;
    }
    queue_of_sums q;
    prepare(q.of_column(), q.answer(0), q.place());
    CHECK(q.orders.empty());
    enqueue(q.of_column(), q.answer(0), q.place());
    CHECK(q.orders.size() == 1);
    CHECK(q.read_ahead());
    enqueue(q.of_column(), q.answer(1), q.place());
    CHECK(q.read_ahead());
    enqueue(q.of_answers(2, 10), q.answer(20), q.place()); // beside both answers
    CHECK(q.read_ahead());
    enqueue(q.of_answers(1, 10), q.answer(21), q.place());
    CHECK(q.waited());
    enqueue(q.of_answers(0, 20), q.answer(22), q.place()); // all in front of what waited was done
    CHECK(q.read_ahead());
    enqueue(q.of_answers(20, 2), q.answer(23), q.place());
    CHECK(q.waited());
    int other = 0;
    enqueue(q.of_answers(23, 1), q.answer(24), on::gpu.stream(&other)); // another stream has an order of its own
    CHECK(q.read_ahead());
    (void)start(q.of_answers(23, 1), q.place()).get();
    CHECK(q.waited());
    int waits = 0;
    for (std::size_t k = 30; k < 200; ++k) {
      enqueue(q.of_column(), q.answer(k), q.place());
      waits += q.waited() ? 1 : 0;
    }
    CHECK(waits == 2); // what is written is forgotten then, so that the list stays short
  }

  TEST_CASE("a run that is like the one before takes its plan, and one that differs in anything does not") {
    if (!gpu::can_compile()) return;
    queue_of_sums q;
    auto const launched = [&](std::size_t skip, i64 n) {
      enqueue(from(device(static_cast<float const*>(q.column.data()) + skip, n)) | sum, q.answer(0), q.place());
      return std::pair{q.fake.launches.back().grid, q.fake.launched_name};
    };
    i64 const large = i64(queue_of_sums::elements) - 4;
    auto const whole = launched(0, large), little = launched(0, 1000), odd = launched(1, large);
    CHECK(whole.first > little.first);
    CHECK(whole.second != odd.second); // loads of four bytes
    for (int again = 0; again < 3; ++again) {
      CHECK(launched(0, large) == whole);
      CHECK(launched(0, large) == whole);
      CHECK(launched(0, 1000) == little);
      CHECK(launched(1, large) == odd);
    }
    q.fake.answers["launch"] = {719}; // a launch that fails leaves the plan as it is
    CHECK_THROWS_AS(launched(0, 1000), error);
    CHECK(launched(0, 1000) == little);
  }

  TEST_CASE("queued reductions: where one that waits fails, the next one waits in its place") {
    if (!gpu::can_compile()) return;
    queue_of_sums q;
    enqueue(q.of_column(), q.answer(0), q.place());
    CHECK(q.read_ahead());
    q.fake.answers["launch"] = {719};
    CHECK_THROWS_AS(enqueue(q.of_answers(0, 1), q.answer(1), q.place()), error);
    enqueue(q.of_answers(0, 1), q.answer(1), q.place());
    CHECK(q.waited());
    enqueue(q.of_column(), q.answer(2), q.place());
    CHECK(q.read_ahead());
  }

  TEST_CASE("queued reductions: nothing is read ahead of columns that were copied") {
    if (!gpu::can_compile()) return;
    queue_of_sums q;
    std::vector<float> const here(5000);
    (void)start(from(here) | sum, q.place()).get();
    CHECK(q.orders.back().last == nullptr);
    CHECK(q.orders.back().first_blocks == 0);
  }

  TEST_CASE("captured reductions: one reads ahead where the node in front is another, and of that nothing is read") {
    if (!gpu::can_compile()) return;
    queue_of_sums q;
    auto const captured_ahead = [&](auto const& reduction, std::size_t answer) {
      enqueue(reduction, q.answer(answer), q.place());
      CHECK(q.orders.back().last == nullptr); // no mark is left: in a graph the numbers of grids stay the same
      return q.orders.back().first_blocks > 0;
    };
    prepare(q.of_column(), q.answer(0), q.place());
    enqueue(q.of_column(), q.answer(100), q.place());
    q.fake.capturing = true;
    CHECK_FALSE(captured_ahead(q.of_column(), 0)); // nobody in front
    CHECK(captured_ahead(q.of_column(), 1));
    CHECK(captured_ahead(q.of_column(), 2));
    CHECK_FALSE(captured_ahead(q.of_answers(0, 2), 3)); // reads what those in front write
    CHECK(captured_ahead(q.of_answers(0, 2), 4));
    q.fake.nodes_in_front = {&q}; // somebody else's
    CHECK_FALSE(captured_ahead(q.of_column(), 5));
    CHECK(captured_ahead(q.of_column(), 6));
    q.fake.nodes_in_front.push_back(&q); // and a join
    CHECK_FALSE(captured_ahead(q.of_column(), 7));
    ++q.fake.capture; // another graph, whose nodes may lie where those of the one before lay
    CHECK_FALSE(captured_ahead(q.of_column(), 8));
    CHECK(captured_ahead(q.of_column(), 9));
    q.fake.nodes_in_front.clear(); // what begins beside them
    CHECK_FALSE(captured_ahead(q.of_column(), 10));
    q.fake.answers["capture_info"] = {1, 1};
    CHECK_FALSE(captured_ahead(q.of_column(), 11)); // the driver does not say
    CHECK_FALSE(captured_ahead(q.of_column(), 12)); // nor did it then
    CHECK(captured_ahead(q.of_column(), 13));
    q.fake.capturing = false;
    enqueue(q.of_answers(100, 1), q.answer(101), q.place()); // what the stream wrote before the graph is not forgotten
    CHECK(q.waited());
    enqueue(q.of_answers(0, 10), q.answer(102), q.place()); // and what a graph writes is done behind it
    CHECK(q.read_ahead());
  }
}
