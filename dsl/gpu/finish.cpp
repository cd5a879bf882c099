// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers of groups that nothing is folded of, made on a GPU: find or compile the kernel, launch once.
#include "base/formatted.hpp"

#include <tally/run/gpu_finish.hpp>

namespace tally::v0::gpu {

unit unit_of_finish(group_type const& t) {
  unit u = unit_of_group(t, "tally/kernel/finish.cuh");
  u.name_expression = formatted("tally::v0::kernel::finish<{}, {}>", t.program(), t.nodes());
  return u;
}

void enqueue(finish_request const& r) {
  kernel const& k = r.cell->get(r.ordinal, [&] { return unit_of_finish(*r.type); });
  if (!r.launches) return;
  constexpr i64 threads = 128, most_blocks = 1024;
  auto groups = r.groups;
  auto to = r.to;
  void* arguments[] = {const_cast<void*>(r.program), const_cast<void*>(r.nodes), &groups, &to};
  launch_shape shape;
  i64 const blocks = (groups - 1) / threads + 1;
  shape.grid_blocks = static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
  shape.block_threads = groups == 1 ? 32 : static_cast<unsigned>(threads);
  launch(k, shape, arguments, r.stream);
}

} // namespace tally::v0::gpu
