// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a description is planned for, and why not elsewhere: what run decides by types, memory and devices, in words.
// Compiled side, plan.
#include "plan/places.hpp"

#include <utility>

namespace tally::v0::detail {
namespace {

void on_host(description& d, int threads) {
  d.facts.target = targets::host;
  bool const few = d.facts.leaves() <= cpu::tiles_for_one_core * cpu::leaves_per_tile;
  d.threads = threads > 0 ? threads : few ? 1 : cpu::core_count();
  d.place = "host, " + std::to_string(d.threads) + (d.threads == 1 ? " thread" : " threads");
}

/// A GPU at hand: columns in host memory will be staged, and staged memory is aligned.
void on_device(description& d, column_places const& places, int ordinal) {
  d.on_gpu = true;
  d.facts.target = gpu::target_of(ordinal);
  d.place = gpu::facts_of(ordinal).name + ", " + describe(d.facts.target);
  for (std::size_t i = 0; i < d.sources.size(); ++i) {
    if (places.columns[i].pointer == nullptr) continue;
    auto const where = gpu::residence_of(*places.columns[i].pointer);
    if (where != gpu::residence::host && where != gpu::residence::pinned) continue;
    d.sources[i].staged = true;
    d.sources[i].address_alignment = d.facts.sources[i].address_alignment = 16;
  }
}

/// What holds a reduction on the host whatever the target; says so.
bool held_on_host(description& d) {
  auto const before = d.why_not.size();
  for (auto const& s : d.sources)
    if (s.host_only) d.why_not.push_back({"a GPU", "only host code knows the elements of this range", s.name});
  for (auto const& f : d.folds)
    if (f.host_only)
      d.why_not.push_back({"a GPU", "a host function has no device text; TALLY_FUNCTION would have", f.name});
  return d.why_not.size() > before;
}

/// Why a reduction that a GPU could run stays on the host.
std::string why_host(description const& d) {
  if (!d.reads()) return "there is nothing to read";
  if (gpu::device_count() > 0)
    return "the columns lie in host memory, and the way to the GPU is longer than the read; on::gpu would copy them";
  auto const reason = gpu::why_no_device();
  return reason.substr(0, reason.find(": lib")); // without the list of every place that was looked at
}

void settle_for(description& d, target const& t) {
  if (t == targets::host) {
    d.why_not.push_back({"a GPU", "the target is the host", ""});
    return on_host(d, 0);
  }
  if (held_on_host(d)) return on_host(d, 0);
  d.on_gpu = true;
  d.facts.target = t;
  d.place = describe(t);
}

void settle_anywhere(description& d, column_places const& places) {
  if (places.of_any >= 0) {
    d.why_not.push_back({"the CPU", "the columns lie in the memory of this GPU", ""});
    return on_device(d, places, places.of_any);
  }
  if (!held_on_host(d)) d.why_not.push_back({"a GPU", why_host(d), ""});
  on_host(d, 0);
}

void settle_on(description& d, on::cpu_place where) {
  if (!held_on_host(d)) d.why_not.push_back({"a GPU", "on::cpu asks for the host", ""});
  on_host(d, where.thread_count);
}

void settle_on(description& d, column_places const& places, on::gpu_place where) {
  if (gpu::device_count() == 0) throw no_gpu(gpu::why_no_device());
  auto const home = where.ordinal >= 0 ? where.ordinal : gpu::home_of(places.columns, d.facts.source_count);
  on_device(d, places, home >= 0 ? home : 0);
}

} // namespace

void settle(description& d, column_places const& places, asked_place const& asked) {
  switch (asked.what) {
  case asked_place::kind::target: return settle_for(d, asked.chip);
  case asked_place::kind::any: return settle_anywhere(d, places);
  case asked_place::kind::cpu: return settle_on(d, asked.cpu);
  case asked_place::kind::gpu: return settle_on(d, places, asked.gpu);
  }
}

explanation explain_at(description d, column_places const& places, asked_place const& asked) {
  settle(d, places, asked);
  return explanation(std::move(d));
}

} // namespace tally::v0::detail
