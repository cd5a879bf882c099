// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine code of full reductions is what their plans say: which loads, how many in flight, how blocks meet, and
// nothing that a contract forbids. Needs NVRTC, no GPU.
#include "fold/own_folds.hpp"
#include "ptx/kernel_text.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

using namespace tally::v0;
using ptx::kernel_text, ptx::many, ptx::numbers;

namespace {

auto const x = numbers<float>(many);
auto const y = numbers<float>(many);
auto const shifted = numbers<float>(many, 4);

} // namespace

TEST_CASE("an aligned column is loaded 16 bytes at a time, a whole leaf in flight before the first addition") {
  if (!ptx::can_compile()) return;
  kernel_text const k(from(x) | sum, targets::h200);
  auto const& p = k.explained.details().planned.plan;
  CHECK(k.count("ld.global.cs.v4") == p.rows_per_leaf);
  CHECK(k.most_in_a_row("ld.global.cs.v4", "add.rn.f32") == p.rows_in_flight);
  CHECK(p.rows_in_flight == 8);
}

TEST_CASE("a misaligned column is loaded element by element, none of them wide") {
  if (!ptx::can_compile()) return;
  kernel_text const k(from(shifted) | sum, targets::h200);
  CHECK(k.count("ld.global.v") == 0);
  CHECK(k.count("ld.global.cs.v") == 0);
  auto const& p = k.explained.details().planned.plan;
  CHECK(k.count("ld.global.f32") + k.count("ld.global.cs.f32") + k.count("ld.global.cs.u32") >=
        p.rows_per_leaf * p.lanes_per_group);
}

TEST_CASE("nothing is contracted, approximated or flushed") {
  if (!ptx::can_compile()) return;
  CHECK(kernel_text(from(x, y) | reduce(sum(_1 * _2)), targets::h200).count_loose() == 0);
  CHECK(kernel_text(from(x, y) | reduce(sum(_1 * _2)), targets::h200, fast).count_loose() == 0);
  CHECK(kernel_text(from(x, y) | reduce(sum(_1 / _2), sum(sqrt(_1))), targets::h200).count_loose() == 0);
  CHECK(kernel_text(from(x) | own_recurrence, targets::a100).count_loose() == 0);
}

TEST_CASE("fma is there when the user wrote it") {
  if (!ptx::can_compile()) return;
  kernel_text const k(from(x, y) | reduce(sum(fma(_1, _2, 1.f))), targets::h200);
  CHECK(k.count("fma.rn.f32") > 0);
}

TEST_CASE("the reproducible contract knows no atomic") {
  if (!ptx::can_compile()) return;
  for (auto const& chip : {targets::a100, targets::h200}) {
    kernel_text const k(from(x) | reduce(sum, count_if(_1 > 0.f), max, mean), chip);
    for (char const* word : {"red.", "atom.", "cp.reduce"}) CHECK_MESSAGE(k.count(word) == 0, word);
  }
}

TEST_CASE("blocks meet through words that carry the epoch, relaxed and without a fence") {
  if (!ptx::can_compile()) return;
  kernel_text const k(from(x) | sum, targets::h200);
  CHECK(k.has("st.relaxed.gpu.global.u64"));
  CHECK(k.has("ld.relaxed.gpu.global.u64"));
  CHECK(k.count("fence.") + k.count("membar.") == 0);
}

TEST_CASE("min and max propagate NaN in one instruction, ignoring it in another") {
  if (!ptx::can_compile()) return;
  for (auto const& chip : {targets::a100, targets::h200}) {
    kernel_text const k(from(x) | reduce(min, max), chip);
    CHECK(k.count("min.NaN.f32") >= 32);
    CHECK(k.count("max.NaN.f32") >= 32);
  }
}

namespace {

/// What one fold of a wide state becomes under the fast contract: CUB's room in it, and none under the reproducible one.
struct wide_kernel {
  template <class R>
  wide_kernel(R const& r, block_algorithm expected) : quick(r, targets::h200, fast), p(quick.explained.details().planned.plan) {
    CHECK(p.folds[0].block == expected);
    CHECK(kernel_text(r, targets::h200).shared_bytes("combine_with_cub") == 0);
  }
  long room() const { return quick.shared_bytes("combine_with_cub"); }
  kernel_text quick;
  plan p;
};

} // namespace

TEST_CASE("the fast contract gives a wide state to CUB, the reproducible one to the tree") {
  if (!ptx::can_compile()) return;
  wide_kernel const costly(from(numbers<double>(many)) | reduce(variance(_1), variance(_1 * _1), sum(_1), sum(_1 * _1)),
                           block_algorithm::raking);
  CHECK(costly.room() >= costly.p.threads_per_block * 24); // a state per thread
  wide_kernel const cheap(from(numbers<double>(many)) | own_boxes, block_algorithm::raking_commutative_only);
  CHECK(cheap.room() >= (cheap.p.threads_per_block - 32) * 32); // a state per thread, but for those that rake
  wide_kernel const vast(from(numbers<unsigned>(many)) | own_records,
                         block_algorithm::warp_reductions);
  CHECK(vast.room() >= vast.p.warps_per_block() * 56); // a state per warp
  CHECK(vast.room() < 2 * vast.p.warps_per_block() * 56);
}

TEST_CASE("a fold that does not commute is raked in the order of the threads under fast, where its state is wide") {
  if (!ptx::can_compile()) return;
  wide_kernel const k(from(numbers<unsigned>(many)) | own_matrices,
                      block_algorithm::raking);
  CHECK(k.p.order == combine_order::ordered);
  CHECK(k.room() >= k.p.threads_per_block * 32);
  CHECK(k.quick.whole.find("__local_depot") == std::string::npos);
}

TEST_CASE("integers of at most 32 bits meet by redux.sync, wider ones and floats do not") {
  if (!ptx::can_compile()) return;
  for (auto const& chip : {targets::a100, targets::h200}) {
    kernel_text const k(from(numbers<int>(many)) | reduce(min, max, bit_and, bit_or, bit_xor), chip);
    for (char const* form : {"min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"})
      CHECK_MESSAGE(k.count(std::string("redux.sync.") + form) == 2, form); // in a warp, over the warps
    CHECK(k.count("shfl.sync") == 0);
  }
  CHECK(kernel_text(from(numbers<unsigned>(many)) | reduce(sum.in<unsigned>(), max), targets::h200).has("redux.sync.add"));
  CHECK(kernel_text(from(numbers<u16>(many)) | max, targets::h200).has("redux.sync.max.u32"));
  CHECK_FALSE(kernel_text(from(numbers<i64>(many)) | max, targets::h200).has("redux.sync"));
  CHECK_FALSE(kernel_text(from(x) | max, targets::h200).has("redux.sync"));
}

TEST_CASE("a heavy fold is fed by the bulk copy engine where there is one") {
  if (!ptx::can_compile()) return;
  auto const r = from(numbers<double>(many)) | reduce(variance, min);
  kernel_text const k(r, targets::h200);
  CHECK(k.has("cp.async.bulk.shared"));
  CHECK(k.has("mbarrier.init.shared"));
  CHECK(k.has("mbarrier.arrive.expect_tx"));
  CHECK(k.has("mbarrier.try_wait"));
  CHECK(k.count("ld.global.cs") == 0);
  kernel_text const old(r, targets::a100);
  CHECK(old.count("cp.async.bulk") + old.count("mbarrier.") == 0);
  CHECK(old.has("ld.global.cs.v"));
}

TEST_CASE("launches overlap where the chip can") {
  if (!ptx::can_compile()) return;
  kernel_text const k(from(x) | sum, targets::h200);
  CHECK(k.count("griddepcontrol.launch_dependents") == 1);
  CHECK(k.count("griddepcontrol.wait") == 1);
  CHECK_FALSE(kernel_text(from(x) | sum, targets::a100).has("griddepcontrol"));
}

TEST_CASE("no global memory is touched before the launch in front is done") {
  if (!ptx::can_compile()) return;
  kernel_text const k(from(x) | sum, targets::h200);
  auto const& code = k.instructions;
  auto const wait =
      std::find_if(code.begin(), code.end(), [](auto const& i) { return i.starts_with("griddepcontrol.wait"); });
  auto const touches = [](std::string const& i) {
    return (i.starts_with("ld.") || i.starts_with("st.")) && i.find(".global") != std::string::npos;
  };
  REQUIRE(wait != code.end());
  CHECK(std::none_of(code.begin(), wait, touches));
}

TEST_CASE("of a queued launch nothing is read before it is known who is in front, and nothing shared before that one is done") {
  if (!ptx::can_compile()) return;
  for (auto const& [n, instruction] : {std::pair{i64(1) << 22, "ld.global.cs.v4"}, std::pair{i64(1) << 24, "cp.async.bulk"}}) {
    std::string_view const load = instruction;
    auto const k = kernel_text::of_queued(from(numbers<float>(n)) | sum);
    auto const& code = k.instructions;
    auto const place_of = [&](std::string_view word) {
      return std::find_if(code.begin(), code.end(), [&](auto const& i) { return i.starts_with(word); });
    };
    auto const reads_marks = place_of("ld.acquire.gpu.global.u64"), barrier = place_of("bar.red.or"), mark = place_of("st.release.gpu.global.u64");
    CAPTURE(load);
    CHECK(reads_marks < barrier);
    CHECK(barrier < mark);
    CHECK(mark < place_of("griddepcontrol.launch_dependents"));
    CHECK(place_of("griddepcontrol.launch_dependents") < place_of(load));
    CHECK(place_of(load) < place_of("st.relaxed.gpu"));
    CHECK(k.count("griddepcontrol.wait") == 2); // in front of all else, and in front of what is shared
    auto const last_wait = std::find_if(code.rbegin(), code.rend(), [](auto const& i) { return i.starts_with("griddepcontrol.wait"); }).base();
    CHECK(last_wait < place_of("st.relaxed.gpu"));
  }
  CHECK(kernel_text::of_queued(from(numbers<float>(i64(1) << 28)) | reduce(sum, min, max, mean, variance)).has("fence.proxy.async.global"));
}

TEST_CASE("the bounds of the launch are the plan's") {
  if (!ptx::can_compile()) return;
  kernel_text const k(from(x) | sum, targets::h200);
  auto const& p = k.explained.details().planned.plan;
  CHECK(k.whole.find(".maxntid " + std::to_string(p.threads_per_block)) != std::string::npos);
  CHECK(k.whole.find(".minnctapersm " + std::to_string(p.blocks_per_multiprocessor)) != std::string::npos);
}

TEST_CASE("the name of a kernel says its plan and its program") {
  if (!ptx::can_compile()) return;
  kernel_text const k(from(x) | sum, targets::h200);
  auto const start = k.whole.find(".entry ") + 7;
  auto const mangled = k.whole.substr(start, k.whole.find_first_of("(\n", start) - start);
  int status = -1;
  std::unique_ptr<char, void (*)(void*)> const name(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  REQUIRE(status == 0);
  std::string_view const readable = name.get();
  for (char const* part : {"tally::v0::kernel::full<", "tally::v0::plan{", "contiguous<float>", "sum_monoid<float>"})
    CHECK_MESSAGE(readable.find(part) != readable.npos, part);
}

TEST_CASE("nothing is spilled and nothing lives in local memory") {
  if (!ptx::can_compile()) return;
  auto const check = [](char const* what, auto const& r, target const& chip) {
    kernel_text const k(r, chip);
    CHECK_MESSAGE(k.whole.find("__local_depot") == std::string::npos, what);
  };
  check("sum", from(x) | sum, targets::h200);
  check("striped sum", from(shifted) | sum, targets::h200);
  check("five folds", from(x) | reduce(sum, min, max, mean, variance), targets::h200);
  check("a filtered dot product", from(x, y) | filter(_1 > 0.f) | reduce(sum(_1 * _2)), targets::h200);
  check("a fold that does not commute", from(x) | own_recurrence, targets::h200);
  check("deviations of doubles", from(numbers<double>(many)) | variance, targets::a100);
}

namespace {

/// The ptxas of a toolkit, or an empty path.
std::string assembler() {
  char const* const homes[] = {std::getenv("CUDA_HOME"), std::getenv("CUDA_PATH"), "/usr/local/cuda"};
  for (char const* home : homes)
    if (home != nullptr && std::filesystem::exists(std::string(home) + "/bin/ptxas"))
      return std::string(home) + "/bin/ptxas";
  return {};
}

/// What ptxas says about a kernel's registers and spills.
std::string report_on(kernel_text const& k, char const* architecture) {
  auto const folder = std::filesystem::temp_directory_path();
  auto const file = (folder / ("tally_" + std::to_string(std::uintptr_t(&k)) + ".ptx")).string();
  std::ofstream(file) << k.whole;
  auto const command = assembler() + " -v -arch=" + architecture + " -o /dev/null " + file + " 2>&1";
  std::string text;
  if (std::FILE* pipe = popen(command.c_str(), "r")) {
    char part[512];
    while (std::fgets(part, sizeof part, pipe) != nullptr) text += part;
    pclose(pipe);
  }
  std::filesystem::remove(file);
  return text;
}

} // namespace

TEST_CASE("ptxas finds registers for everything") {
  if (!ptx::can_compile()) return;
  if (assembler().empty()) {
    MESSAGE("skipped: no ptxas on this machine");
    return;
  }
  auto const check_text = [](char const* what, kernel_text const& k) {
    auto const said = report_on(k, "sm_90a");
    bool const clean = said.find("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads") != said.npos;
    CHECK_MESSAGE(clean, what << ": " << said);
  };
  auto const check = [&](char const* what, auto const& r) {
    check_text(what, kernel_text(r, targets::h200));
    check_text(what, kernel_text::of_queued(r));
  };
  check("sum", from(x) | sum);
  check("five folds", from(x) | reduce(sum, min, max, mean, variance));
  check("deviations of doubles", from(numbers<double>(many)) | variance);
  check("a fold that does not commute", from(x) | own_recurrence);
}

TEST_CASE("a few blocks of a wide state are one cluster and never meet in global memory") {
  if (!ptx::can_compile()) return;
  auto const words = from(numbers<i32>(1 << 15)) | reduce(sum, min, max, mean);
  kernel_text const k(words, targets::h200);
  CHECK(k.has("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64"));
  CHECK(k.has("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32"));
  CHECK(k.has("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.s32"));
  CHECK(k.has("barrier.cluster.arrive"));
  CHECK(k.count("ld.relaxed.gpu") == 0);
  auto const states = from(numbers<float>(1 << 15)) | reduce(sum, min, max, mean, variance);
  kernel_text const c(states, targets::h200);
  CHECK(c.count("cp.async.bulk.shared::cluster.shared::cta") == 1);
  CHECK(c.has("fence.proxy.async"));
  CHECK(c.count("red.async") == 0);
  kernel_text const old(states, targets::a100);
  CHECK(old.count("barrier.cluster") == 0);
}
