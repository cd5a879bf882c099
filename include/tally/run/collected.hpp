// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of a pipe without lets, written on the host, or by a GPU into its memory. Layer 5.
#pragma once

#include <tally/run/cpu_elements.hpp>
#include <tally/run/gpu_elements.hpp>
#include <tally/run/run_over.hpp>

namespace tally::inline v0::detail {

inline constexpr auto nothing_reduced = [](int) { return false; };

/// Where the elements of a pipe without lets lie: its columns as groups of one, and the layout of all.
template <class Pipe>
auto grid_domain(Pipe const& pipe) {
  return bind_domain(groups_along_axes<rank_of<std::remove_cvref_t<decltype(pipe.source)>>, 0>{}, pipe, pack<>{});
}

/// Writes on the host.
template <class Pipe, class... Ts>
void write_collected(Pipe const& pipe, pack<Ts*...> const& to, on::cpu_place where) {
  axes_layout const at = layout_of(pipe.source, nothing_reduced);
  if (at.groups == 0)
    return;
  auto d = grid_domain(pipe);
  auto whole = bind_to(pipe, pack<>{}).program;
  check_host_can_read(whole);
  cpu::write_elements(d.program.columns, at, pipe.values, to, where.thread_count);
}

/// Device text of the expressions that are written.
template <class Program, class Row, class Values>
struct text_of_elements;
template <class Program, class Row, class... Es>
struct text_of_elements<Program, Row, pack<Es...>> {
  [[gnu::cold]] static std::string definitions() {
    tally::definitions d;
    text_in<Program>::collect(d);
    (text_in<Es>::collect(d), ...);
    (text_in_values<Row, Es>::collect(d), ...);
    return d.structs + d.functions;
  }
};

/// The constants of the types of a writing, one object for each.
template <class Program, class Row, class Values>
gpu::group_type const& elements_type_of() {
  static gpu::group_type const type{&name_of<Program>, &name_of<Values>, &text_of_elements<Program, Row, Values>::definitions,
                                    sizeof(Program), alignof(Program), sizeof(typename Program::states), sizeof(Values)};
  return type;
}

/// Queues the writing on a GPU; outputs are in device memory.
template <class Pipe, class... Ts>
void queue_collected(Pipe const& pipe, pack<Ts*...> const& to, on::gpu_place where, gpu::staged_columns& staged) {
  axes_layout const at = layout_of(pipe.source, nothing_reduced);
  if (at.groups == 0)
    return;
  auto p = grid_domain(pipe).program;
  using Program = decltype(p);
  using Values = std::remove_cvref_t<decltype(pipe.values)>;
  static gpu::kernels_of<elements_plan> kernels;
  p.extent = at.groups;
  axes_facts const f{facts_of(p, target{}, contract{}), at};
  gpu::elements_request r{&elements_type_of<Program, row_of<Pipe>, Values>(), &kernels, &p, &pipe.values, {}, f, {}, {}, int(sizeof...(Ts)),
                          where.ordinal, where.queue};
  for_each_index<int(sizeof...(Ts))>([&](auto i) {
    r.to.at[i] = get<i>(to);
    r.written[i] = {int(sizeof(nth_t<i, Ts...>)), alignment_of(get<i>(to))};
  });
  places_in_grid(p, at, r.columns);
  gpu::enqueue(r, staged);
}

} // namespace tally::inline v0::detail
