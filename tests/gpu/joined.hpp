// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the domains of a matrix, or of a batch of them, are one read on a GPU, and whether their answers are those of the CPU. Test layer.
#pragma once

#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"

#include <tally/tally.hpp>

/// What is planned for the domains of a reduction in one read, whether that joins and the total with it.
template <class R>
tally::v0::mixed_planned plan_of(R const& r) {
  namespace detail = tally::v0::detail;
  auto const whole = detail::bind_to(r.pipe, detail::whole_folds(r.folds));
  return detail::mixed_read_of<detail::mixed_items_of<R>>(r.folds, r.pipe, whole.program.leaves, tally::on::gpu, tally::contract::reproducible).planned();
}

/// What is planned for domains(x) of numbers that lie on the device, which join and have the bits of the same numbers on the host.
template <class T, class Domains>
tally::v0::mixed_planned plan_of_same(std::vector<T> const& x, on_device<T> const& there, Domains const& domains) {
  auto const p = plan_of(domains(there.data()));
  CHECK(p.joins);
  auto const host = run(domains(x.data()), tally::on::cpu);
  for (int again = 0; again < 2; ++again) CHECK(same_arrays(host, run(domains(there.data()), tally::on::gpu)));
  return p;
}

template <class R>
void same_and_joined(R const& r, bool joins, bool total) {
  CAPTURE(tally::v0::text_of(r));
  auto const p = plan_of(r);
  CHECK(p.joins == joins);
  CHECK(p.total_joins() == total);
  same_on_both<2>(r);
}
