// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that explanations for programs share. Compiled side, plan.
#pragma once

#include "plan/words.hpp"

#include <nlohmann/json.hpp>

namespace tally::v0::words {

using json = nlohmann::ordered_json;

json number_or_null(double x);
json target_of(description const& d);
json launch_of_plan(description const& d);
json sources_of(description const& d);
json folds_of(description const& d);
json why_not_of(std::vector<refused_choice> const& why_not);

} // namespace tally::v0::words
