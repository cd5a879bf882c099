// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of batches: full reductions of one type, or a few of any types, in one launch. Layer 3.
#pragma once

#include <tally/plan/batch_plan.hpp>
#include <tally/plan/segments.hpp>

namespace tally::v0 {

/// Plans the kernel of a batch: shorter parts, because a small reduction is done when its longest part is.
constexpr segments_plan make_batch_plan(facts const& f) {
  segments_plan p = make_segments_plan(f);
  p.in_windows = false;
  p.warps_per_block = threads_of_batch / 32;
  p.leaves_per_part = 4;
  return p;
}
/// The places that meetings of `items` programs need, which have `parts` parts together and `most` at most.
constexpr i64 cut_batch(i64 items, i64 parts, i64 most, meeting_levels& levels) {
  i64 places = 0;
  for (int l = 0; l < max_meeting_levels; ++l) {
    levels.begin[l] = places;
    if (most > 1)
      places += parts + items + 1;
    parts /= parts_that_meet;
    most = (most - 1) / parts_that_meet + 1;
  }
  return places;
}

/// One program of a few: its facts, whose extent is 0 where it takes no part, its states in words where parts meet, and in bytes.
struct batch_program {
  facts f;
  int words;
  i64 bytes;
};
/// A launch of a few programs of any types: what it needs beside its kernel.
struct batch_of_types_planned {
  batch_of_types_plan plan{};
  batch_of_types_cut cut{};
  i64 blocks = 0, words = 0, places = 0, answer_bytes = 0;
};
constexpr batch_of_types_planned plan_batch_of_types(batch_program const* programs, int n) {
  batch_of_types_planned out;
  out.plan.count = n;
  for (int i = 0; i < n; ++i) {
    facts const& f = programs[i].f;
    segments_plan const& p = out.plan.of[i] = make_batch_plan(f);
    if (f.extent == 0)
      continue;
    batch_share& own = out.cut.of[i];
    own.parts = (f.extent - 1) / elements_per_part(f, p) + 1;
    own.blocks = static_cast<u32>((own.parts - 1) / p.warps_per_block + 1);
    own.first_word = out.words;
    own.first_place = out.places;
    own.answer = out.answer_bytes;
    i64 const places = cut_batch(1, own.parts, own.parts, own.levels);
    out.blocks += own.blocks;
    out.words += places * programs[i].words;
    out.places += places;
    out.answer_bytes += (programs[i].bytes + 15) / 16 * 16;
  }
  return out;
}

} // namespace tally::v0
