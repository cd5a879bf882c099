// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groupings by segment that take turns with each other and with the folds of the whole source, from device memory to device memory, queued and not waited
// for. Layer 5.
#pragma once

#include <tally/run/enqueue_domain.hpp>
#include <tally/run/in_turns.hpp>

namespace tally::v0::detail {

template <class Domains>
class segments_to_enqueue;
template <class... Domains>
class segments_to_enqueue<pack<Domains...>> {
  static constexpr int count = sizeof...(Domains);

public:
  segments_to_enqueue(pack<Domains...> const& d, enqueue_call const& call)
      : reads_(unpack([](auto const&... of) { return make_pack(read_of(of, 0, of.program.extent)...); }, d)), call_(call) {}
  segments_to_enqueue(segments_to_enqueue const&) = delete;
  /// Says where the answers of one go.
  template <int I>
  void answer_to(answer_arrays const& to) {
    get<I>(reads_).memory.to = to;
  }
  /// Queues all of them and the whole, whose answers go there; false where they do not take turns.
  template <class Program, class Nodes>
  bool enqueue_with(domain<whole_source, Program, Nodes> const& d, answer_arrays const& to) {
    static gpu::kernels_of<gpu::plan_of_turns> kernels;
    constexpr bool any_whole = Program::leaf_count > 0;
    bool all = planning::take_turns(count, any_whole) && d.program.extent > 0;
    for_each_index<count>([&](auto i) { all = all && get<i>(reads_).at.segments() > 0; });
    if (!all)
      return false;
    whole_to_enqueue<Program, Nodes> whole(d.program, d.nodes, to, call_);
    gpu::turns_request turns{};
    turns.whole = any_whole ? &whole.request : nullptr;
    turns.all_segments = &reads_;
    turns.segments_bytes = sizeof reads_;
    turns.kernels = &kernels;
    turns.definitions = &definitions_in_turns<Program, pack<>, Domains...>;
    gpu::segments_request requests[count];
    for_each_index<count>([&](auto i) {
      requests[i] = segments_request_for(get<i>(reads_), 0, call_.where, call_.promise);
      requests[i].told = false;
      requests[i].launches = call_.launches;
      turns.segments[i] = &requests[i];
    });
    if (!gpu::plan_turns(turns, call_.where.ordinal).joins)
      return false;
    (void)gpu::enqueue(turns);
    return true;
  }

private:
  pack<decltype(read_of(std::declval<Domains const&>(), 0, 0))...> reads_;
  enqueue_call const& call_;
};

} // namespace tally::v0::detail
