// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled kernels follow the protocols they name, and one that does not is found out. Needs NVRTC, no GPU.
#include "protocols/instruction_order.hpp"

#include "primitive/device_unit.hpp"
#include "protocols/kernels.hpp"
#include "ptx/kernel_text.hpp"

#include <fstream>
#include <iterator>
#include <utility>

using namespace tally::v0;
using protocols::code_graph, protocols::disorder, protocols::word;
using ptx::many, ptx::numbers;

namespace {

using text = std::vector<std::string>;

std::string ring_of_one_column() {
  return explain(from(numbers<double>(many)) | reduce(variance, min), targets::h200).ptx();
}
std::string code_of(protocols::bound_kernel const& k) {
  auto const made = device_unit::compile(k.text, "sm_90");
  REQUIRE_MESSAGE(made.complaints.empty(), std::string(k.follows.name) << ": " << made.complaints.substr(0, 2000));
  return made.ptx;
}
std::string disorder_of(std::string const& ptx, tally::v0::protocol::description const& d) {
  return disorder(code_graph(code_graph::lines_of(ptx)), d);
}
word word_in(std::string const& line) { return protocols::word_of(code_graph::instruction_in(line)); }

/// Whether control never falls from one line to another, because the way between them is cut.
bool other_arm(text const& lines, std::size_t from, std::size_t to) {
  return std::any_of(lines.begin() + long(from), lines.begin() + long(to), [](std::string const& line) {
    auto const i = code_graph::instruction_in(line);
    return line.find('@') == line.npos && (i.starts_with("bra") || i.starts_with("ret"));
  });
}

/// What was changed in a kernel's text, and what of it went unseen.
struct changes {
  int lacking = 0, exchanged = 0;
  std::vector<word> unseen_lacking;
  std::vector<std::pair<word, word>> unseen_exchanged;
};

/// Leaves out each instruction of the protocol, and exchanges each with the next one that is another word.
changes change_all(text const& lines, tally::v0::protocol::description const& d) {
  changes result;
  protocols::automaton const protocol(d);
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (protocol.needs().contains(word_in(lines[i]))) at.push_back(i);
  auto const seen = [&](text const& with) { return !disorder(code_graph(with), d).empty(); };
  for (std::size_t k = 0; k < at.size(); ++k) {
    auto const here = word_in(lines[at[k]]);
    auto without = lines;
    without[at[k]].clear();
    if (++result.lacking; !seen(without)) result.unseen_lacking.push_back(here);
    if (k + 1 == at.size() || other_arm(lines, at[k], at[k + 1])) continue;
    auto const next = word_in(lines[at[k + 1]]);
    if (next == here) continue;
    auto swapped = lines;
    std::swap(swapped[at[k]], swapped[at[k + 1]]);
    if (++result.exchanged; !seen(swapped)) result.unseen_exchanged.emplace_back(here, next);
  }
  return result;
}

/// One of several initialisations, loads and stores can go unseen; so can one of the copies of a loop that was unrolled.
bool one_of_several(word w) {
  return w == word::init || w == word::from_shared || w == word::to_shared || w == word::store_sum;
}
/// No mistake (mutants.cpp says why), or seen as two turns: one that has no room to wait for, one that has nothing to send.
/// Of a store ring: the engine and the threads read, in any order; and a stage written before the threads meet is seen as
/// the end of one ring, which waits by the same word, and the beginning of another (the explorer sees the mistake).
bool harmless(std::pair<word, word> const& exchanged) {
  return exchanged == std::pair(word::init, word::to_shared) || exchanged == std::pair(word::wait, word::send_words) ||
         exchanged == std::pair(word::from_shared, word::wait_source) ||
         exchanged == std::pair(word::meet_block, word::to_shared);
}

void check_changes(std::string const& ptx, tally::v0::protocol::description const& d) {
  INFO(std::string(d.name));
  auto const c = change_all(code_graph::lines_of(ptx), d);
  CHECK(c.lacking >= 8);
  CHECK(c.exchanged >= 5);
  CHECK(std::all_of(c.unseen_lacking.begin(), c.unseen_lacking.end(), one_of_several));
  CHECK(std::all_of(c.unseen_exchanged.begin(), c.unseen_exchanged.end(), harmless));
  CHECK(c.unseen_exchanged.size() <= 2);
}

} // namespace

TEST_CASE("the rings of kernels follow load_ring_of_warp on every way through their code") {
  if (!ptx::can_compile()) return;
  auto const check = [](tally::v0::explanation const& e) {
    INFO(e.text());
    REQUIRE(e.details().planned.plan.stages > 0);
    CHECK(disorder_of(e.ptx(), tally::v0::protocol::load_ring_of_warp()) == "");
  };
  auto const x = numbers<double>(many);
  for (auto const& chip : {targets::h200, targets::b200, targets::rtx_pro_6000})
    check(explain(from(x) | reduce(variance, min), chip));
  check(explain(from(x) | reduce(variance, min, max), targets::h200, fast));
  check(explain(from(x) | filter(_1 > 0.) | reduce(variance, min, max), targets::h200));
  check(explain(from(x, iota(many), numbers<i16>(many)) | reduce(sum(_1 * _2).where(_3 > 0)), targets::h200));
}

TEST_CASE("the verbs follow the protocols they name, and no other") {
  if (!device_unit::can_compile()) return;
  for (auto const& kernel : protocols::kernels) {
    auto const ptx = code_of(kernel);
    INFO(std::string(kernel.follows.name));
    CHECK(disorder_of(ptx, kernel.follows) == "");
    for (auto const& other : tally::v0::protocol::every_protocol)
      if (std::string(other.name) != kernel.follows.name)
        CHECK_MESSAGE(disorder_of(ptx, other) != "", "follows " << std::string(other.name));
  }
}

TEST_CASE("every protocol is held against a kernel, or is known to have none") {
  for (auto const& d : tally::v0::protocol::every_protocol) {
    std::string const name = d.name;
    bool const bound = std::any_of(std::begin(protocols::kernels), std::end(protocols::kernels),
                                   [&](auto const& k) { return k.follows.name == name; });
    CHECK_MESSAGE(bound == (name != "load_ring_of_warp"), name); // the library's own
  }
}

namespace {

/// The device part of an example, and the protocol its head names through the verb it uses.
struct example {
  char const* name;
  tally::v0::protocol::description follows;
  std::vector<std::string> instances{};
};

std::string device_part(char const* name) {
  std::ifstream file(std::string(TALLY_REPOSITORY) + "/examples/kernels/" + name + ".cu");
  REQUIRE_MESSAGE(file.good(), std::string(name));
  std::string code;
  for (std::string line; std::getline(file, line) && !line.starts_with("int main()");)
    if (!line.starts_with("#include <") || line.starts_with("#include <tally/")) code += line + "\n";
  return code;
}

} // namespace

TEST_CASE("the examples of kernels follow the protocols of their verbs") {
  if (!device_unit::can_compile()) return;
  using tally::v0::protocol::action;
  for (auto const& e :
       {example{"bulk_copy_ring", tally::v0::protocol::load_ring_of_block()},
        example{"cluster_multicast", tally::v0::protocol::multicast_ring()},
        example{"cluster_red_async", tally::v0::protocol::cluster_words()},
        example{"cluster_tiles", tally::v0::protocol::cluster_copy()},
        example{"scatter_rows", tally::v0::protocol::store_sum_ring(action::meet_warp), {"scatter_in_bulk<float>"}}}) {
    auto const made = device_unit::compile(device_part(e.name), "sm_90", e.instances);
    REQUIRE_MESSAGE(made.complaints.empty(), std::string(e.name) << ": " << made.complaints.substr(0, 2000));
    CHECK_MESSAGE(disorder_of(made.ptx, e.follows) == "", std::string(e.name)
                                                              << ": " << disorder_of(made.ptx, e.follows));
  }
}

TEST_CASE("kernels can use the data of a protocol") {
  if (!device_unit::can_compile()) return;
  auto const made = device_unit::compile(R"(
#include <tally/primitive/protocols.hpp>
using namespace tally::v0::protocol;
static_assert(load_ring_of_warp().turn[0].what == action::wait);
extern "C" __global__ void kernel(unsigned* p) { *p = parity_of(int(threadIdx.x), 3) + unsigned(stage_of(int(threadIdx.x), 3)); })",
                                         "sm_90");
  CHECK_MESSAGE(made.complaints.empty(), made.complaints.substr(0, 2000));
}

TEST_CASE("a kernel whose protocol lacks an instruction, or has two exchanged, is found out") {
  if (!device_unit::can_compile()) return;
  check_changes(ring_of_one_column(), tally::v0::protocol::load_ring_of_warp());
  for (auto const& kernel : protocols::kernels) check_changes(code_of(kernel), kernel.follows);
}

TEST_CASE("control is followed through jumps, predicates and tables") {
  using tally::v0::protocol::load_ring_of_warp;
  text const good{".entry k(",
                  "mbarrier.init.shared.b64 [%r1], %r2;",
                  "fence.mbarrier_init.release.cluster;",
                  "bar.warp.sync -1;",
                  "mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r1], %r3;",
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd2], %r3, [%r1];",
                  "$top:",
                  "mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r5;",
                  "@!%p1 bra $top;",
                  "ld.shared.f32 %f1, [%r4];",
                  "bar.warp.sync -1;",
                  "ret;"};
  auto const verdict = [](text const& lines) { return disorder(code_graph(lines), load_ring_of_warp()); };
  CHECK(verdict(good) != ""); // never refilled: the second expect and load are missing
  auto refilled = good;
  refilled.insert(refilled.end() - 1, {good[4], good[5], "@%p2 bra $top;"});
  CHECK(verdict(refilled) == "");
  auto around = refilled; // a way around the wait
  around.insert(around.begin() + 6, {"@%p3 bra $past;"});
  around.insert(around.begin() + 10, {"$past:"});
  CHECK(verdict(around) != "");
  auto table = refilled; // a jump by a table: one of its ways leaves the wait out
  table.insert(table.begin() + 6, {"$ways: .branchtargets $top, $past;", "brx.idx %r9, $ways;"});
  table.insert(table.begin() + 11, {"$past:"});
  CHECK(verdict(table) != "");
  auto together = refilled; // expect and load under one predicate are both taken or both skipped
  together[4] = "@%p9 bra $a;", together[5] = good[4];
  together.insert(together.begin() + 6, {"$a:", "@%p9 bra $top;", good[5]});
  CHECK(verdict(together).find("out of order") != std::string::npos); // %p9 is computed nowhere: nothing is known of it
  together.insert(together.begin() + 1, {"setp.eq.s32 %p9, %r7, 0;"});
  CHECK(verdict(together) == "");
}
