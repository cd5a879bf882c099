// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the domains of a reduction read, what memory has to deliver for it and what they write; and the time that is expected of that.
// Compiled side, plan.
#include "plan/domains.hpp"
#include "plan/words.hpp"

#include <algorithm>

namespace tally::v0::words {

bool reads(domain_description const& d) { return (d.kind == grouping_kind::elements || d.of.reads()) && d.groups != 0; }

} // namespace tally::v0::words

namespace tally::v0 {
namespace {

using words::reads, words::sorts, words::sorts_rows, words::sort_of, words::bytes_per_sector;

/// Calls f(elements, closest step) for column c: how many of its elements are read, and how far apart they are at least.
template <class F>
i64 of_column(domain_description const& d, std::size_t c, F const& f) {
  i64 elements = 1, closest = 0, total = 1;
  auto const walk = [&](grid_axis const* axes, int count) {
    for (int k = 0; k < count; ++k) {
      i64 const step = axes[k].steps[c] < 0 ? -axes[k].steps[c] : axes[k].steps[c];
      total *= axes[k].extent;
      if (step != 0) elements *= axes[k].extent;
      if (step != 0 && (closest == 0 || step < closest)) closest = step;
    }
  };
  walk(d.at.kept, d.at.kept_axes);
  walk(d.at.reduced, d.at.reduced_axes);
  return d.of.sources[c].host_only ? f(total, i64(1)) : f(elements, closest == 0 ? i64(1) : closest);
}

/// Bytes of elements that travel to their partitions, with their slots.
i64 bytes_partitioned(domain_description const& d) {
  return d.of_partitions.blocks > 0 ? d.at.extent * (i64(sizeof(u16)) + planning::travelling_bytes(words::keys_of(d))) : 0;
}
/// Keys that are found take a walk of their own, and so do slots by which elements or rows are sorted.
i64 passes_of(domain_description const& d) { return d.shares_read ? 0 : 1 + (d.kind == grouping_kind::found_keys) + (sorts(d) || sorts_rows(d)); }
i64 launches_of(domain_description const& d) {
  return passes_of(d) + (sorts(d) || sorts_rows(d) ? 3 * sort_of(d).passes + 1 : 0) + (d.of_partitions.blocks > 0 ? 2 * d.of_partitions.parts * d.of_partitions.passes : 0);
}
/// Columns of keys that are found first are read for that, and for the folds.
i64 times_read(domain_description const& d, std::size_t c) { return (d.columns_of_key >> c & 1) != 0 ? 2 : 1; }
/// What is read again in each pass of those that take some of the partitions.
i64 passes_of_partitions(domain_description const& d) { return d.of_partitions.blocks > 0 ? d.of_partitions.passes : 1; }

} // namespace

i64 domain_description::bytes_read() const {
  i64 total = 0;
  if (reads(*this))
    for (std::size_t c = 0; c < of.sources.size(); ++c)
      total += of_column(*this, c, [&](i64 n, i64) { return n * of.sources[c].bytes_per_element * times_read(*this, c); });
  return total + (reads(*this) ? bytes_beside : 0);
}

i64 domain_description::bytes_moved() const {
  i64 total = 0;
  if (reads(*this))
    for (std::size_t c = 0; c < of.sources.size(); ++c)
      total += of_column(*this, c, [&](i64 n, i64 step) {
        i64 const size = of.sources[c].bytes_per_element;
        i64 const apart = sorts(*this) ? bytes_per_sector : std::min(step * size, bytes_per_sector);
        return n * std::max(size, size == 0 ? 0 : apart) * (times_read(*this, c) + passes_of_partitions(*this) - 1);
      });
  if ((sorts(*this) || sorts_rows(*this)) && reads(*this)) total += (1 + 2 * sort_of(*this).passes) * (sort_of(*this).bytes() / 2);
  return total + 2 * bytes_partitioned(*this) + (reads(*this) ? bytes_beside : 0);
}

i64 domain_description::bytes_written() const { return groups < 0 ? 0 : groups * bytes_of_answers; }

void domain_description::share_read_with(domain_description& other) {
  other.shares_read = true;
  for (std::size_t c = 0; c < other.of.sources.size(); ++c)
    if (i64 const size = other.of.sources[c].bytes_per_element; size > 0 && of.sources[c].bytes_per_element == 0 && (columns_beside >> c & 1) == 0) {
      columns_beside |= u32(1) << c;
      bytes_beside += of_column(other, c, [&](i64 n, i64) { return n * size; });
    }
}

i64 grouped_description::bytes_read() const {
  i64 total = 0;
  for (auto const& d : domains) total += d.shares_read ? (reads(d) ? d.bytes_beside : 0) : d.bytes_read();
  return total;
}

i64 grouped_description::passes() const {
  i64 total = 0;
  for (auto const& d : domains) total += passes_of(d);
  return total;
}

i64 grouped_description::bytes_written() const {
  i64 total = 0;
  for (auto const& d : domains) total += d.bytes_written();
  return total;
}

double grouped_description::expected_seconds() const {
  double const rate = head.facts.target.read_bytes_per_second;
  double total = 0;
  for (auto const& d : domains)
    if (reads(d) && rate > 0)
      total += double(launches_of(d)) * head.facts.target.launch_seconds + (d.shares_read ? 0 : double(d.bytes_moved()) / rate) + double(d.bytes_written()) / rate;
  return total;
}

} // namespace tally::v0
