// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine code of reads that fold rows, columns and total together: tiles come by bulk copies, by small ones of threads where there is
// no copy engine, and nothing is contracted. Needs NVRTC, no GPU.
#include "ptx/kernel_text.hpp"

using namespace tally::v0;

namespace {

/// The PTX of a reduction by a plan.
template <class R>
std::string text_of_mixed(R const& r, mixed_plan const& p) {
  auto const whole = tally::v0::detail::bind_to(r.pipe, detail::whole_folds(r.folds));
  constexpr auto at = detail::mixed_items_of<R>;
  auto const domains = detail::domains_of_matrix<at>(r.folds, r.pipe, whole.program.leaves);
  using read = typename std::remove_cvref_t<decltype(domains)>::template read<detail::keyed_domains<pack<>>>;
  return gpu::compile(gpu::unit_of(read::request_of_types(), p), 9, 0).ptx;
}
int count_in(std::string const& text, std::string const& what) {
  int n = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}
/// Nothing is written while tiles are read, and open lanes are in registers.
void writes_nothing_while_it_reads(std::string const& ahead) {
  for (std::string const touched : {"st.global", "ld.local", "st.local"})
    for (auto at = ahead.find(touched); at != ahead.npos; at = ahead.find(touched, at + 1))
      CHECK(ahead.rfind("griddepcontrol.wait", at) > ahead.rfind("mbarrier.try_wait", at));
}

} // namespace

TEST_CASE("a ring asks for tiles in bulk, threads copy where there is none, and no product is contracted") {
  if (!ptx::can_compile()) return;
  float const x[4]{};
  auto const m = from(shaped(x, 65536, 4096)) | reduce(over<0>(sum(_1 * _1)), over<1>(variance), sum);
  auto const ring = text_of_mixed(m, {3, 2, false});
  CHECK(count_in(ring, "cp.async.bulk") > 0);
  CHECK(count_in(ring, "mbarrier.try_wait") > 0);
  CHECK(count_in(ring, "fma.rn.f32") == 0);
  CHECK(count_in(ring, "griddepcontrol") == 0);
  auto const ahead = text_of_mixed(m, {3, 2, true}); // one wait before it reads, for who may not read ahead, and one before it writes
  CHECK(count_in(ahead, "griddepcontrol.launch_dependents") == 1);
  CHECK(count_in(ahead, "griddepcontrol.wait") > 1);
  writes_nothing_while_it_reads(ahead);
  auto const copied = text_of_mixed(m, {2, 2, false, 4});
  CHECK(count_in(copied, "cp.async.bulk") == 0);
  CHECK(count_in(copied, "cp.async.ca.shared.global") > 0);
  CHECK(count_in(copied, "cp.async.wait_group 1;") > 0); // the tile behind is on its way while one is folded
  CHECK(count_in(copied, "mbarrier.try_wait") == 0);
  CHECK(count_in(copied, "fma.rn.f32") == 0);
}

TEST_CASE("units of few columns write nothing while they read, and keep open lanes and trees of rows in registers") {
  if (!ptx::can_compile()) return;
  float const x[4]{};
  mixed_plan p{2, 2, true};
  p.whole = whole_from::leaves;
  p.shares_of_last_chunk = 4;
  auto const ahead = text_of_mixed(from(shaped(x, 65536, 256)) | reduce(over<0>(sum), over<1>(sum, max), sum), p);
  CHECK(count_in(ahead, "mbarrier.try_wait") > 0);
  writes_nothing_while_it_reads(ahead);
}

TEST_CASE("rows that begin anywhere come in bulk, and their elements are read one by one, none is shifted") {
  if (!ptx::can_compile()) return;
  float const x[4]{};
  bf16 const h[4]{};
  mixed_plan p{2, 2, false};
  p.begins_anywhere = true;
  auto const words = text_of_mixed(from(shaped(x, 65536, 4097)) | reduce(over<0>(sum), over<1>(sum)), p);
  CHECK(count_in(words, "cp.async.bulk") > 0);
  CHECK(count_in(words, "barrier.sync") > 0); // where the last row ends
  CHECK(count_in(words, "ld.shared.f32") >= 64); // of a row and of columns, eight times four a thread
  CHECK(count_in(words, "ld.shared.v4") < 8);
  CHECK(count_in(words, "shf.r") == 0);
  auto const halves = text_of_mixed(from(shaped(h, 65536, 4097)) | reduce(over<0>(sum), over<1>(sum)), p);
  CHECK(count_in(halves, "cp.async.bulk") > 0);
  CHECK(count_in(halves, "ld.shared.u16") >= 128);
  CHECK(count_in(halves, "shf.r") == 0);
  p.begins_anywhere = false;
  auto const even = text_of_mixed(from(shaped(h, 65536, 4096)) | reduce(over<0>(sum), over<1>(sum)), p);
  CHECK(count_in(even, "barrier.sync") == 0);
  CHECK(count_in(even, "ld.shared.v4") >= 16);
  CHECK(count_in(even, "ld.shared.u16") == 0);
}

TEST_CASE("open lanes stay in registers where tiles hold several lanes of a matrix of a batch") {
  if (!ptx::can_compile()) return;
  float const x[4]{};
  auto const batch = from(shaped(x, 512, 128, 4096)) | reduce(over<1>(sum), over<2>(sum), sum);
  for (int const lanes : {1, 2, 8}) {
    mixed_plan p{2, 2, true};
    p.batched = true;
    p.lanes_of_tile = lanes;
    writes_nothing_while_it_reads(text_of_mixed(batch, p));
  }
}

TEST_CASE("leaves of the whole are folded where they begin: from tiles, and behind them from memory in pieces of 16 bytes") {
  if (!ptx::can_compile()) return;
  float const x[4]{};
  auto const m = from(shaped(x, 65536, 4097)) | reduce(over<0>(sum), over<1>(sum), sum);
  mixed_plan p{2, 2, true};
  p.begins_anywhere = true;
  p.whole = whole_from::leaves;
  auto const begun = text_of_mixed(m, p);
  CHECK(count_in(begun, "ld.global.nc.v4") >= 8);
  writes_nothing_while_it_reads(begun);
  p.whole = whole_from::leaves_of_rows;
  p.begins_anywhere = false;
  auto const of_rows = text_of_mixed(from(shaped(x, 65536, 3072)) | reduce(over<0>(sum), over<1>(sum), sum), p);
  CHECK(count_in(of_rows, "ld.global.nc.v4") == 0);
  writes_nothing_while_it_reads(of_rows);
  mixed_plan copied{2, 2, false, 4};
  copied.whole = whole_from::leaves;
  CHECK(count_in(text_of_mixed(m, copied), "cp.async.ca.shared.global") > 0);
}

TEST_CASE("whole rows of few columns come in bulk, a thread loads neighbours of one at once, and nothing is contracted") {
  if (!ptx::can_compile()) return;
  float const x[4]{};
  auto const m = from(shaped(x, 65536, 32)) | reduce(over<0>(sum(_1 * _1)), over<1>(sum(_1 * _1)), sum);
  mixed_plan p{3, 2, false};
  p.whole = whole_from::leaves;
  p.few_columns = 32;
  p.rows_of_lane = 2;
  auto const text = text_of_mixed(m, p);
  CHECK(count_in(text, "cp.async.bulk") > 0);
  CHECK(count_in(text, "mbarrier.try_wait") > 0);
  CHECK(count_in(text, "ld.shared.v4") > 0);
  CHECK(count_in(text, "fma.rn.f32") == 0);
}
