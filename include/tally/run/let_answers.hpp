// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The answers of lets where a pipeline runs: folded along axes, by segment or by key, kept as long as they are looked at, with what tells an element its own.
// Layer 5. Answers stay where they were computed, but for those by key, which come by the host.
#pragma once

#include <optional>
#include <vector>

#include <tally/element/earlier.hpp>
#include <tally/run/arena.hpp>
#include <tally/run/collected.hpp>
#include <tally/run/heap_array.hpp>
#include <tally/run/run_group_by.hpp>
#include <tally/run/run_grouped.hpp>
#include <tally/run/same_let.hpp>

namespace tally::v0::detail {

template <class T>
inline char const tag_of_type{};

/// Answers of lets, alive as long as this.
class answers_of_lets {
public:
  /// What is known of the answers of a let; null when it has not run.
  template <class Let>
  void const* find(Let const& let) const {
    for (auto const& e : all_)
      if (e.type == &tag_of_type<Let> && same_let(*static_cast<Let const*>(e.let), let))
        return e.known;
    return nullptr;
  }
  /// What owns the answers of a let.
  template <class Memory>
  Memory& keep(Memory memory) {
    return memory_.keep(std::move(memory));
  }
  template <class Memory, class... Args>
  Memory& make(Args const&... args) {
    return memory_.make<Memory>(args...);
  }
  template <class Let>
  void add(Let const& let, void const* known) {
    all_.push_back({&tag_of_type<Let>, &memory_.keep(let), known});
  }

private:
  struct entry {
    void const *type, *let, *known;
  };
  arena memory_;
  std::vector<entry> all_;
};

/// The answers of a let along the axes of a source.
template <class T, class Let, int Rank, class... Columns>
earlier_along<T, Rank> answers_along(Let const& let, T const* data, grid<Rank, Columns...> const& beside) {
  using Where = typename Let::where;
  earlier_along<T, Rank> c{data, {}, {}};
  i64 step = 1;
  for (int k = Rank - 1; k >= 0; --k) {
    c.extents[k] = beside.extent_along(k);
    bool const kept = Where::kept > 0 && !Where::is_reduced(k);
    c.strides[k] = kept ? step : 0;
    if (kept)
      step *= extent_along(let.pipe.source, k);
  }
  return c;
}
/// The answers of a let and, where they are of segments or by key, what tells an element its own, where they can be read from the place of the run.
template <class T, class Where>
struct answers_there {
  using answer = T;
  T const* data;
};
template <class T, class Offset>
struct answers_there<T, groups_between_offsets<Offset>> {
  using answer = T;
  using column = earlier_of_segment<T, Offset>;
  T const* data;
  Offset const* offsets;
  i64 const* of_milestone;
  i64 segments;
};
template <class T, class Key>
struct answers_by_key {
  using answer = T;
  using column = earlier_of_key<T, Key>;
  T const* data;
  Key const* keys;
  i64 bins;
  T of_nothing;
};
/// The same of the let itself: keys have a type that its expression knows.
template <class T, class Where, class Program>
struct answers_of_where {
  using type = answers_there<T, Where>;
};
template <class T, int Rank, u32 Reduced, int Dims, class Key, class Mask, bool Drops, class Program>
struct answers_of_where<T, groups_by_key<Rank, Reduced, Dims, Key, Mask, Drops>, Program> {
  using type = answers_by_key<T, key_type_of<groups_by_key<Rank, Reduced, Dims, Key, Mask, Drops>, Program>>;
};
/// The answers of a let as a column beside those of a source. Where elements go by keys or by segments the one answer of a whole source is none in memory,
/// so that the others are still read by neighbours.
template <class Items, class Let, class There, int Rank, class... Columns>
auto column_of_let(Let const& let, There const& there, grid<Rank, Columns...> const& beside) {
  using T = typename There::answer;
  if constexpr (requires { there.of_milestone; })
    return typename There::column{there.data, there.offsets, there.of_milestone, beside.extent_along(0), there.segments};
  else if constexpr (requires { there.keys; })
    return typename There::column{there.data, there.keys, there.bins, there.of_nothing, layout_of(beside, nothing_reduced).groups};
  else if constexpr (is_sole_answer<Let>() && !go_along_axes<Items>)
    return sole_answer<T>{there.data};
  else
    return answers_along<T>(let, there.data, beside);
}

/// The type of the answers of a domain with one fold.
template <class Domain>
using answer_in_domain = group_answer_of<std::remove_cvref_t<decltype(get<0>(std::declval<Domain const&>().nodes))>, decltype(Domain::program)>;

/// Where the answers of a domain begin: an array's, or the one.
template <class T>
T const* first_of(T const& one) {
  return &one;
}
template <class T, int Rank>
T const* first_of(mdarray<T, Rank> const& all) {
  return all.data();
}

/// Throws bad_offsets unless every element is in a segment.
template <class Offset>
void check_all_in_segments(Offset first, Offset last, i64 extent) {
  if (first != Offset(0) || static_cast<i64>(last) != extent)
    throw bad_offsets("the offsets of a let go from " + std::to_string(first) + " to " + std::to_string(last) + ", the source has " + std::to_string(extent) +
                      " elements, and each sees the answer of its segment.");
}

/// The segments of all milestones, from one to the next.
template <class Offset>
heap_array<i64> milestones_of(groups_between_offsets<Offset> const& at, i64 extent) {
  using milestone = segment_of_milestone<Offset>;
  heap_array<i64> out(static_cast<std::size_t>(milestone::around(extent)));
  i64 s = 0;
  for (i64 k = 0; k < milestone::around(extent); ++k) {
    while (s + 1 < at.segments() && at.begin(s + 1) <= k << milestone::shift)
      ++s;
    out[static_cast<std::size_t>(k)] = s;
  }
  return out;
}

/// Folds on the host.
template <class T, int Rank, u32 Reduced, class Program, class Nodes, class Source>
answers_there<T, groups_along_axes<Rank, Reduced>> answers_kept(domain<groups_along_axes<Rank, Reduced>, Program, Nodes> const& d, Source const& s, on::cpu_place where,
                                                                contract c, answers_of_lets& kept) {
  return {first_of(kept.keep(compute_groups(d, s, where, c)))};
}
template <class T, class Offset, class Program, class Nodes, class Source>
answers_there<T, groups_between_offsets<Offset>> answers_kept(domain<groups_between_offsets<Offset>, Program, Nodes> const& d, Source const& s, on::cpu_place where,
                                                              contract c, answers_of_lets& kept) {
  T const* const data = first_of(kept.keep(compute_groups(d, s, where, c)));
  auto const at = counted(d.where, true, {});
  check_all_in_segments(at.offsets[0], at.offsets[at.segments()], d.program.extent);
  return {data, at.offsets, kept.keep(milestones_of(at, d.program.extent)).data(), at.segments()};
}
/// What the answers of segments need on a GPU while they are seen.
template <class Read, class Segments>
struct memory_of_segments {
  Read read;
  gpu::device_memory answers, milestones;
  gpu::staged_columns staged;
  std::optional<Segments> segments; ///< which has the offsets, if they came from the host
  explicit memory_of_segments(Read const& r) : read(r) {}
};
/// Folds segments on a GPU; the answers stay there.
template <class T, class Offset, class Program, class Nodes, class Source>
answers_there<T, groups_between_offsets<Offset>> answers_kept(domain<groups_between_offsets<Offset>, Program, Nodes> d, Source const& s, on::gpu_place where,
                                                              contract c, answers_of_lets& kept) {
  using milestone = segment_of_milestone<Offset>;
  using segments_type = segments_on_gpu<domain<groups_between_offsets<Offset>, Program, Nodes>>;
  using memory_type = memory_of_segments<typename segments_type::read_type, segments_type>;
  d.where = counted(d.where, false, where.queue);
  i64 const extent = d.program.extent, n = d.where.segments();
  int owner = 0;
  bool const on_device = gpu::residence_of(d.where.offsets, &owner) == gpu::residence::device;
  Offset first{}, last{};
  if (on_device) {
    gpu::copy(&first, d.where.offsets, sizeof first, owner, where.queue);
    gpu::copy(&last, d.where.offsets + n, sizeof last, owner, where.queue);
    gpu::wait(owner, where.queue);
  } else {
    check_offsets(d.where, extent, 0);
    first = d.where.offsets[0];
    last = d.where.offsets[n];
  }
  check_all_in_segments(first, last, extent);
  if (extent == 0)
    return {};
  auto& memory = kept.make<memory_type>(read_of(d, 0, extent));
  memory.answers = gpu::allocate(static_cast<std::size_t>(n) * sizeof(T), where.ordinal, where.queue);
  answer_arrays to{};
  to.at[0] = memory.answers.data();
  memory.segments.emplace(d, memory.read, 0, where, c, on_device, &to);
  if constexpr (Program::leaf_count > 0) {
    gpu::enqueue(memory.segments->request(), memory.staged);
    memory.segments->check();
  } else {
    auto const answers = compute_groups(d, s, where, c);
    memory.answers = gpu::stage(answers.data(), static_cast<std::size_t>(n) * sizeof(T), where.ordinal, where.queue);
  }
  grid<1, milestone> all{};
  all.columns = make_pack(milestone{memory.segments->offsets(), n});
  all.extents[0] = all.axes[0][0] = milestone::around(extent);
  memory.milestones = gpu::allocate(sizeof(i64) * static_cast<std::size_t>(all.extents[0]), where.ordinal, where.queue);
  auto* const of_milestone = static_cast<i64*>(memory.milestones.data());
  queue_collected(piped<grid<1, milestone>, pack<placeholder<0>>, always>{all, {}, {}}, make_pack(of_milestone), where, memory.staged);
  return {static_cast<T const*>(memory.answers.data()), memory.segments->offsets(), of_milestone, n};
}
/// Folds on a GPU, in the order of its stream; the answers stay there.
template <class T, int Rank, u32 Reduced, class Program, class Nodes, class Source>
answers_there<T, groups_along_axes<Rank, Reduced>> answers_kept(domain<groups_along_axes<Rank, Reduced>, Program, Nodes> const& d, Source const& s, on::gpu_place where,
                                                                contract c, answers_of_lets& kept) {
  axes_layout const at = layout_of(d.program, s, groups_along_axes<Rank, Reduced>::is_reduced);
  struct memory_of_answers {
    gpu::device_memory answers;
    gpu::staged_columns staged;
  };
  auto& memory = kept.keep(memory_of_answers{});
  auto const bytes = static_cast<std::size_t>(at.groups) * sizeof(T);
  if constexpr (any_checked(leaves_of<Program>)) { // by the host, which looks at them
    auto const answers = compute_groups(d, s, where, c);
    if (at.groups > 0)
      memory.answers = gpu::stage(first_of(answers), bytes, where.ordinal, where.queue);
  } else if (at.groups > 0 && (at.extent == 0 || Program::leaf_count == 0)) {
    heap_array<T> const same(static_cast<std::size_t>(at.groups));
    for (i64 g = 0; g < at.groups; ++g)
      same[static_cast<std::size_t>(g)] = group_answer(get<0>(d.nodes), d.program.leaves, d.program.identity(), at.extent);
    memory.answers = gpu::stage(same.data(), bytes, where.ordinal, where.queue);
  } else if (at.groups > 0) {
    auto p = d.program;
    memory.answers = gpu::allocate(bytes, where.ordinal, where.queue);
    answer_arrays to{};
    to.at[0] = memory.answers.data();
    queue_groups(p, d.nodes, at, where, c, to, memory.staged);
  }
  return {static_cast<T const*>(memory.answers.data())};
}

/// Where the keys of all elements lie one after the other, if they are a column of the source; else null.
template <class K, class Source, class Key>
K const* column_of_keys(Source const&, Key const&) {
  return nullptr;
}
template <class K, class Source, int I>
K const* column_of_keys(Source const& s, placeholder<I> const&) {
  using Column = std::remove_cvref_t<decltype(get<I>(s.columns))>;
  if constexpr (std::same_as<Column, contiguous<K>> && rank_of<Source> == 1)
    if (auto const at = layout_of(s, nothing_reduced); at.kept_axes == 0 || at.kept[0].steps[I] == 1)
      return get<I>(s.columns).data;
  return nullptr;
}
/// The key of every element: a column in memory at the place itself, where it is one, else written there.
template <class K, class Source, class Key>
K const* keys_there(Source const& s, Key const& key, on::cpu_place where, answers_of_lets& kept) {
  if (K const* const there = column_of_keys<K>(s, key))
    return there;
  auto const pipe = piped<Source, pack<Key>, always>{s, make_pack(key), {}};
  auto& keys = kept.keep(heap_array<K>(static_cast<std::size_t>(layout_of(s, nothing_reduced).groups)));
  write_collected(pipe, make_pack(keys.data()), where);
  return keys.data();
}
template <class K, class Source, class Key>
K const* keys_there(Source const& s, Key const& key, on::gpu_place where, answers_of_lets& kept) {
  int owner = -1;
  if (K const* const there = column_of_keys<K>(s, key); there != nullptr && gpu::residence_of(there, &owner) == gpu::residence::device && owner == where.ordinal)
    return there;
  struct memory_of_keys {
    gpu::device_memory keys;
    gpu::staged_columns staged;
  };
  auto const pipe = piped<Source, pack<Key>, always>{s, make_pack(key), {}};
  auto& memory = kept.keep(memory_of_keys{});
  memory.keys = gpu::allocate(sizeof(K) * static_cast<std::size_t>(layout_of(s, nothing_reduced).groups), where.ordinal, where.queue);
  queue_collected(pipe, make_pack(static_cast<K*>(memory.keys.data())), where, memory.staged);
  return static_cast<K const*>(memory.keys.data());
}
template <class T>
T const* answers_at(T const* answers, i64, on::cpu_place, answers_of_lets&) {
  return answers;
}
template <class T>
T const* answers_at(T const* answers, i64 n, on::gpu_place where, answers_of_lets& kept) {
  return static_cast<T const*>(kept.keep(gpu::stage(answers, sizeof(T) * static_cast<std::size_t>(n), where.ordinal, where.queue)).data());
}
/// Folds by key; the answers of a GPU come by the host, as those of run do.
template <class T, class Place, class Where, class Program, class Nodes, class Direct, class Source>
auto answers_kept(keyed_domain<Where, Program, Nodes, Direct> const& d, Source const& s, Place where, contract c, answers_of_lets& kept) {
  using There = typename answers_of_where<T, Where, Program>::type;
  using K = std::remove_cvref_t<decltype(*There::keys)>;
  T const* const answers = first_of(kept.keep(compute_groups(d, s, where, c)));
  There there{answers, nullptr, d.where.bins, group_answer(get<0>(d.nodes), d.program.leaves, d.program.identity(), 1)};
  if (layout_of(s, nothing_reduced).groups > 0 && there.bins > 0) {
    there.data = answers_at(answers, there.bins, where, kept);
    there.keys = keys_there<K>(s, d.where.key, where, kept);
  }
  return there;
}

} // namespace tally::v0::detail
