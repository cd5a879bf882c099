// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of a pipe without lets, written on the host, or by a GPU into its memory. Layer 5.
#pragma once

#include <tally/run/cpu_elements.hpp>
#include <tally/run/gpu_elements.hpp>
#include <tally/run/run_over.hpp>

namespace tally::v0::detail {

inline constexpr auto nothing_reduced = [](int) { return false; };

/// The columns that the elements of a pipe without lets name, a bit each.
template <class Pipe>
inline constexpr u32 columns_of_elements = columns_named<decltype(Pipe::values)> | columns_named<decltype(Pipe::mask)>;
/// Those columns of the pipe, read as groups of one.
template <class Pipe>
auto program_of_elements(Pipe const& pipe) {
  return program_of<columns_of_elements<Pipe>>(bare_columns(pipe.source), 0, pack<>{});
}

/// Writes on the host.
template <class Pipe, class... Ts>
void write_collected(Pipe const& pipe, pack<Ts*...> const& to, on::cpu_place where) {
  auto const p = program_of_elements(pipe);
  axes_layout const at = layout_of(p, pipe.source, nothing_reduced);
  if (at.groups == 0)
    return;
  auto whole = program_reading<columns_of_elements<Pipe>>(bind_to(pipe, pack<>{}).program);
  check_host_can_read(whole);
  cpu::write_elements(p.columns, at, pipe.values, to, where.thread_count);
}

/// Device text of the expressions that are written.
template <class Program, class Row, class Values>
struct text_of_elements;
template <class Program, class Row, class... Es>
struct text_of_elements<Program, Row, pack<Es...>> {
  [[gnu::cold]] static std::string definitions() {
    tally::v0::definitions d;
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
  auto p = program_of_elements(pipe);
  axes_layout const at = layout_of(p, pipe.source, nothing_reduced);
  if (at.groups == 0)
    return;
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

} // namespace tally::v0::detail
