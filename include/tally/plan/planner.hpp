// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner, as a contents page: from facts to a plan, a launch, and the list of what was refused. Layer 3. Each line is
// one decision in a file of its own, whose head says why it stands where it stands.
#pragma once

#include <tally/plan/block.hpp>
#include <tally/plan/cluster.hpp>
#include <tally/plan/launch.hpp>
#include <tally/plan/legal.hpp>
#include <tally/plan/load.hpp>
#include <tally/plan/order.hpp>
#include <tally/plan/tile.hpp>

namespace tally::v0 {

/// A plan, how many blocks to launch with it, and why it is no other.
struct planned {
  tally::v0::plan plan;
  i64 blocks;
  why_not_list why_not;
};

/// Plans one full reduction of at least one element.
constexpr planned make_plan(facts const& f) {
  planned out{};
  plan& p = out.plan;
  p.promise = f.promise;
  p.lanes_per_group = f.lanes_per_group;
  p.rows_per_leaf = f.rows_per_leaf;
  p.order = planning::choose_order(f, out.why_not);
  planning::choose_launch(f, p, out.why_not);
  planning::choose_loads(f, p, out.why_not);
  planning::choose_tile(f, p, out.why_not);
  planning::choose_blocks(f, p, out.why_not);
  out.blocks = planning::blocks_of(f, p);
  planning::choose_cluster(f, out.blocks, p, out.why_not);
  return out;
}

} // namespace tally::v0
