// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of keys that a GPU finds by a read in front of the folds: its table, and how that read is cut.
// Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/domains.hpp"
#include "plan/words.hpp"

namespace tally::v0::words {

void plan_search_of_gpu(domain_description& d, keys_facts& f) {
  d.of_search = make_find_keys_plan({f.of, f.at, d.key_bytes});
  f.slots = d.of_search.slots / 2;
}

std::string search_of(domain_description const& d) {
  auto const& search = d.of_search;
  return formatted("one read puts the keys into a table of {} slots of {} B in global memory, again into {} times as many while more than half "
                   "are taken; the keys are sorted there; a second read folds by the number of a key among them, here for {} keys: ",
                   search.slots, d.key_bytes == 8 ? 16 : 8, planning::more_key_slots, search.slots / 2);
}

std::string cut_of_search(domain_description const& d) {
  auto const& search = d.of_search;
  return formatted("search: {} of {} threads, {} a load, {} in flight", several(search.blocks, "block"), search.plan.threads_per_block,
                   several(search.plan.elements_per_load, "element"), several(search.plan.loads_in_flight, "load"));
}

} // namespace tally::v0::words
