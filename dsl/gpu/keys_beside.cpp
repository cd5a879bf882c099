// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key beside the other folds of a read on a GPU: what joins it, what is done before and after, and what its kernel is told.
#include "base/formatted.hpp"
#include "gpu/keyed_phases.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_keys_beside.hpp>

namespace tally::v0::gpu {
namespace {

template <class F>
void for_each(keys_of_read const& keys, F const& f) {
  for (auto* one : keys.of)
    if (one != nullptr) f(*one);
}
keyed_phases phases_of(keys_beside_request& one) {
  kernel const& k = one.kernels->get(one.planned.plan, one.keys.ordinal, [&] { return unit_of(*one.keys.type, one.planned.plan); });
  return {one.keys, one.planned.plan, k, *one.memory};
}
std::string name_of_keys(keys_beside_request const& one) {
  return formatted("tally::v0::kernel::planned_keys<{}, {}, {}>", spell(one.planned.plan), one.keys.type->where(), one.keys.type->of.program());
}

} // namespace

keys_of_read plan_beside_each_other(keys_beside_request* const (&all)[max_keys_beside], int ordinal, bool beside_exact) {
  keys_of_read out{};
  for (int i = 0; i < max_keys_beside; ++i)
    if (all[i] != nullptr) {
      all[i]->keys.f.of.target = target_of(ordinal);
      all[i]->planned = make_keys_beside_plan(all[i]->keys.f, most_bytes_beside - out.shared_bytes(), beside_exact);
      if (all[i]->planned.joins) out.of[i] = all[i];
    }
  return out;
}

void open(keys_of_read const& keys, column_place const* columns, i64 first_byte) {
  for_each(keys, [&](keys_beside_request& one) {
    for (int c = 0; c < one.keys.f.of.source_count; ++c)
      if (one.keys.columns[c].pointer != nullptr) *one.keys.columns[c].pointer = *columns[c].pointer;
    *one.memory = lay_out(one.keys, one.planned.plan, one.flight);
    *one.shared_offset = static_cast<u32>(first_byte);
    first_byte += one.planned.shared_bytes;
    phases_of(one).open();
  });
}

void close(keys_of_read const& keys) {
  for_each(keys, [](keys_beside_request& one) {
    phases_of(one).close();
    send_stray(one.keys, one.flight);
  });
}

void add_keys(unit& u, keys_of_read const& keys) {
  if (!keys.any()) return;
  u.extra_headers.push_back("tally/kernel/keys_beside.cuh");
  std::string names;
  for_each(keys, [&](keys_beside_request const& one) {
    std::string const name = name_of_keys(one);
    u.assertions += formatted("static_assert(sizeof({}) == {}, \"host and device lay keys out alike\");\n", name, one.argument_bytes);
    names += ", " + name;
  });
  u.name_expression.insert(u.name_expression.size() - 1, names);
}

void add_arguments(void** to, keys_of_read const& keys) {
  for_each(keys, [&](keys_beside_request const& one) { *to++ = one.argument; });
}

} // namespace tally::v0::gpu
