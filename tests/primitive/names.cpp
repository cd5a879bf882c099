// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of primitive/ and those of pipelines may be used in one file: no name means two things.
#include <tally/primitive/copyable.hpp>
#include <tally/primitive/reducible.hpp>
#include <tally/primitive/spell.hpp>
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace tally::v0;
using namespace tally::primitive;

static_assert(bulk_reducible<operation::min, u32, space::shared_cluster, sm_90a>);
static_assert(legal(form{.instruction = family::red,
                         .op = operation::add,
                         .type = element_type::f32,
                         .destination = space::global,
                         .order = semantics::release,
                         .scope = scope::sys},
                    architecture{80}));
static_assert(bulk_copy(space::shared_cta, space::global).completion == completion::bulk_group);
static_assert(sizeof(two<bf16>) == 4 && alignof(lanes<float, 4>) == 16);

TEST_CASE("kernels of one's own and pipelines share a file") {
  std::vector<float> const x{1, 2, 3};
  CHECK(run(from(x) | reduce(sum), on::cpu) == 6.f);
  CHECK(spell(bulk_prefetch()) == "cp.async.bulk.prefetch.L2.global");
}
