// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// batch(r1, r2, ...): whole reductions that are run together. Layer 2. They share nothing but the call: each has a source of its own,
// and each has the answers, to the bit, that it has when it is run alone.
#pragma once

#include <tally/pipeline/reduce.hpp>

namespace tally::v0 {

/// Reductions to be run together; run() gives a std::tuple of their answers.
template <class... Rs>
struct batched {
  using tally_batch = batched;
  pack<Rs...> reductions;
};

/// Reductions, of any types and extents, that are run together: run(batch(from(x) | sum, from(y) | reduce(min, max))).
template <class... Rs>
  requires(sizeof...(Rs) > 0 && (finished<Rs> && ...))
constexpr auto batch(Rs... reductions) {
  return batched<Rs...>{make_pack(reductions...)};
}

/// What is no reduction is refused, and the type says why.
template <class... Rs>
  requires(!(sizeof...(Rs) > 0 && (finished<Rs> && ...)))
auto batch(Rs...) -> std::conditional_t<(refused<Rs> || ...), absorbed<because::answers<int(sizeof...(Rs))>>,
                                        because::batch_takes_reductions<because::answers<int(sizeof...(Rs))>, Rs...>> {
  return {};
}

} // namespace tally::v0
