// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel compiled with TALLY_CHECKED ends with a sentence where a precondition of a verb is broken, and runs as ever
// where none is. A kernel that ends so takes its process's context along: each breach is a process of its own.
#include "faults/child.hpp"
#include "gpu/primitive_kernel.hpp"

#include <tally/base/error.hpp>

#include <cstdlib>

namespace {

struct breach {
  char const* code;
  char const* statements;
};

breach const breaches[] = {
    {"D1", "prefetch(in_global(data), bulk_bytes::exactly(20));"},
    {"D2", "copy(in_global(data + 1), in_shared(room.elements), room.bytes());"},
    {"D3", "red<operation::add>(in_global(reinterpret_cast<lanes<float, 4>*>(data + 1)), {1, 2, 3, 4});"},
    {"D4", "red<operation::add>(in_shared(data), 1.f);"},
    {"D5", "red_async<operation::add>(in_cluster(&word, 0), 1u, in_cluster(&full, 0));"},
    {"D6", "expected told = full.expect(bulk_bytes::of<64>());\n"
           "copy(in_shared(room.elements), in_global(data), bulk_bytes::of<32>(), told);"},
    {"D7", "load_ring<1> ring(barriers, reinterpret_cast<unsigned char*>(room.elements) + 16, room.bytes());"},
};

/// One thread does it.
std::string kernel_of(std::string const& statements) {
  return "__global__ void checked_kernel(float* data) {\n"
         "  __shared__ stage<float, 64> room;\n"
         "  __shared__ ring_barriers<1> barriers;\n"
         "  __shared__ barrier full;\n"
         "  __shared__ unsigned word;\n"
         "  if (threadIdx.x == 0) full.init(1), publish_barriers(), word = 0;\n"
         "  (void)barriers;\n" +
         statements + "\n}\n";
}

void run_checked(std::string const& statements) {
  primitive_kernel const kernel("tally/primitive/verbs.cuh", kernel_of(statements), "checked_kernel",
                                {"-DTALLY_CHECKED"});
  on_device const data(std::vector<float>(256));
  kernel({.block_threads = 1}, data.data());
}

} // namespace

TEST_CASE("a broken precondition ends a checked kernel with its sentence") {
  if (no_kernels()) return;
  for (std::size_t i = 0; i < std::size(breaches); ++i) {
    auto const child = run_suite("one breach", "TALLY_TEST_BREACH=" + std::to_string(i));
    CAPTURE(child.output);
    CHECK(child.status == 0);
    CHECK_MESSAGE(child.output.find(std::string("[tally-") + breaches[i].code + "]") != std::string::npos,
                  breaches[i].code);
  }
}

TEST_CASE("what breaks no precondition runs in a checked kernel") {
  if (no_kernels()) return;
  run_checked("{ expected told = full.expect(room.bytes());\n"
              "  copy(in_shared(room.elements), in_global(data), room.bytes(), told); }\n"
              "full.wait(0);\n"
              "copy(in_global(data + 64), in_shared(room.elements), room.bytes());\n"
              "commit_bulk_group();\nwait_bulk_groups();\n"
              "red<operation::add>(in_global(reinterpret_cast<lanes<float, 4>*>(data + 4)), {1, 2, 3, 4});\n"
              "red<operation::add>(in_shared(&word), 1u);");
}

TEST_SUITE("one breach" * doctest::skip()) {
  TEST_CASE("this process's breach") {
    char const* const which = std::getenv("TALLY_TEST_BREACH");
    REQUIRE(which != nullptr);
    bool ended = false;
    try {
      run_checked(breaches[std::size_t(std::atoi(which))].statements);
    } catch (tally::v0::error const& why) {
      ended = true;
      std::printf("%s\n", why.what());
    }
    std::fflush(nullptr);
    std::_Exit(ended ? 0 : 1); // nothing that lives on the device can be given back any more
  }
}
