// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a description is planned for, as explanations of all kinds ask it. Compiled side, plan.
#pragma once

#include <tally/plan/explain_grouped.hpp>
#include <tally/run/explain.hpp>

namespace tally::v0::detail {

/// Fills in the place, the target and the threads, marks columns that will be staged, and says why no other place.
void settle(description& d, column_places const& places, asked_place const& asked);

/// What the head knows of the place, and of where columns lie, goes to a domain.
void place_domain(domain_description& d, description const& head);

} // namespace tally::v0::detail
