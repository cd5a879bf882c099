// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who uses the forms: pipelines, and the parts of primitive/ that kernels are made of, each as the PTX it becomes. Test
// layer. A pipeline or a part that reaches a form nobody reached before gets a line in reaching.cpp.
#pragma once

#include <tally/primitive/form.hpp>

#include <string>
#include <vector>

namespace reaching {

/// Something that was compiled, every form in its PTX, and how its blocks reduce.
struct user {
  std::string name; ///< short, for a table
  std::string text; ///< what a reader knows it by
  bool is_pipeline;
  std::vector<tally::v0::primitive::form> forms;
  std::vector<std::string> blocks; ///< CUB's algorithms in its plan, by CUB's names
  tally::v0::primitive::architecture made_for = tally::v0::primitive::sm_90a;
};

/// All of them, compiled on first use.
std::vector<user> const& users();

} // namespace reaching
