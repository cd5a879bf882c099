// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of a grouping as the compiled side knows them. Layer 5.
#pragma once

#include <tally/run/compute.hpp>
#include <tally/run/gpu_groups.hpp>

namespace tally::v0::detail {

/// The constants of a grouping's types, one object for each.
template <class Program, class Nodes>
gpu::group_type const& group_type_of() {
  static gpu::group_type const type{&name_of<Program>,       &name_of<Nodes>, &definitions_of<Program>, sizeof(Program), alignof(Program),
                                    sizeof(typename Program::states), sizeof(Nodes)};
  return type;
}

} // namespace tally::v0::detail
