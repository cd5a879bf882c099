// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grouping along axes, computed: its states for every group, then its answers as arrays. Layer 5.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include <tally/run/answer_memory.hpp>
#include <tally/run/compute.hpp>
#include <tally/run/cpu_groups.hpp>
#include <tally/run/gpu_groups.hpp>
#include <tally/run/layout_of.hpp>
#include <tally/run/mdarray.hpp>
#include <tally/run/run.hpp>
#include <tally/run/segments_request.hpp>
#include <tally/run/shared_word.hpp>
#include <tally/run/traits_of_leaves.hpp>

namespace tally::v0 {

namespace detail {

/// The answer of a node for one group, where an empty group has the answer of the identity.
template <class Node, class Leaves, class States>
auto group_answer(Node const& node, Leaves const& leaves, States const& states, i64 extent) {
  answers::outcome<Leaves, States> const o{leaves, states, {extent}};
  return answers::with_one_nan(node.value(o));
}
template <class Node, class Program>
using group_answer_of = decltype(group_answer(std::declval<Node const&>(), std::declval<Program const&>().leaves,
                                              std::declval<typename Program::states const&>(), i64{}));

/// States that are kept in another form of which answers are made sooner.
template <class States>
concept has_near_states = requires(States const& s, typename States::near_states& to) { s.near(std::size_t{}, to); };
/// The same of group g of those whose states are kept.
template <class Node, class Leaves, class States>
auto answer_of_states(Node const& node, Leaves const& leaves, States const& states, std::size_t g, i64 extent) {
  if constexpr (answers::takes_near_sums<Node> && has_near_states<States>)
    if (typename States::near_states near{}; states.near(g, near))
      return group_answer(node, leaves, near, extent);
  return group_answer(node, leaves, states[g], extent);
}

/// An array of answers, or the one answer where no axis is kept.
template <class T, int Rank>
struct answers_of_rank {
  using type = mdarray<T, Rank>;
};
template <class T>
struct answers_of_rank<T, 0> {
  using type = T;
};

/// Fills arrays of Kept axes with the answers of all groups; extent_of(g) is how many elements group g has.
template <int Kept, class Domain, class States, class ExtentOf>
auto arrays_of_answers(Domain const& d, States const& states, i64 const (&extents)[Kept > 0 ? Kept : 1], int threads,
                       ExtentOf const& extent_of) {
  using Program = std::remove_cvref_t<decltype(d.program)>;
  i64 const groups = static_cast<i64>(states.size());
  auto const array_of = [&](auto const& node) {
    using T = group_answer_of<std::remove_cvref_t<decltype(node)>, Program>;
    auto const answer = [&](i64 g) { return answer_of_states(node, d.program.leaves, states, static_cast<std::size_t>(g), extent_of(g)); };
    if constexpr (Kept == 0) {
      return answer(0);
    } else {
      mdarray<T, Kept> out(extents);
      i64 const chunk = 4096, chunks = groups == 0 ? 0 : (groups - 1) / chunk + 1;
      if (chunks > 0)
        cpu::detail::spread_over_cores(chunks, threads, [&](i64 c) {
          i64 const end = groups < (c + 1) * chunk ? groups : (c + 1) * chunk;
          for (i64 g = c * chunk; g < end; ++g)
            out[static_cast<std::size_t>(g)] = answer(g);
        });
      return out;
    }
  };
  return unpack(
      [&](auto const&... node) {
        if constexpr (sizeof...(node) == 1)
          return (array_of(node), ...);
        else
          return std::tuple(array_of(node)...);
      },
      d.nodes);
}

/// The extents along the axes that are kept.
template <int Rank, u32 Reduced, class Source>
void kept_extents(groups_along_axes<Rank, Reduced>, Source const& s, i64* out) {
  for (int k = 0; k < Rank; ++k)
    if (!groups_along_axes<Rank, Reduced>::is_reduced(k))
      *out++ = extent_along(s, k);
}

/// Where the columns of a source lie, seen through the layout of its groups; the pointers are those of the domain's program.
template <class Program>
void places_in_grid(Program& p, axes_layout const& at, gpu::column_place* out) {
  for_each_index<decltype(p.columns)::size>([&](auto i) {
    auto& c = get<i>(p.columns);
    out[i] = {nullptr, 0, 0};
    if constexpr (memory_column<std::remove_cvref_t<decltype(c)>>) {
      i64 low = 0, high = 0;
      auto const reach = [&](grid_axis const& a) { (a.steps[i] < 0 ? low : high) += (a.extent - 1) * a.steps[i]; };
      for (int k = 0; k < at.kept_axes; ++k)
        reach(at.kept[k]);
      for (int k = 0; k < at.reduced_axes; ++k)
        reach(at.reduced[k]);
      i64 const size = sizeof(*c.data);
      out[i] = {reinterpret_cast<void const**>(&c.data), low * size, (high - low + 1) * size};
    }
  });
}

/// Bytes of all answers of a group.
template <class Program, class... Nodes>
constexpr i64 bytes_of_answers(pack<Nodes...> const*) {
  return (i64(0) + ... + i64(sizeof(group_answer_of<Nodes, Program>)));
}

/// Arrays of answers for a kernel to fill, and their way to the host.
template <class Program, class... Nodes>
class answers_on_device {
public:
  answers_on_device(i64 groups, int ordinal, gpu::stream_ref stream)
      : groups_(groups), memory_(begin_of(int(sizeof...(Nodes))), planning::writes_home(groups, bytes_of_answers<Program>(static_cast<pack<Nodes...> const*>(nullptr))), ordinal, stream) {}
  std::size_t bytes() const { return begin_of(int(sizeof...(Nodes))); }
  answer_arrays places() const {
    answer_arrays to{};
    for (int i = 0; i < int(sizeof...(Nodes)); ++i)
      to.at[i] = static_cast<char*>(memory_.data()) + begin_of(i);
    return to;
  }
  /// Waits, and gives what arrays_of_answers gives.
  template <int Kept>
  auto fetch(i64 const (&extents)[Kept > 0 ? Kept : 1]) {
    return [&]<int... I>(index_list<I...>) {
      if constexpr (sizeof...(I) == 1)
        return copied<Kept>(extents, index_constant<0>{});
      else
        return std::tuple(copied<Kept>(extents, index_constant<I>{})...);
    }(indices_up_to<int(sizeof...(Nodes))>{});
  }

private:
  template <int I>
  using type = group_answer_of<nth_t<I, Nodes...>, Program>;
  i64 groups_;
  gpu::answer_memory memory_;

  /// Where array i begins, at 256 bytes each.
  std::size_t begin_of(int i) const {
    constexpr std::size_t of_group[] = {sizeof(group_answer_of<Nodes, Program>)..., 0};
    std::size_t begin = 0;
    for (int k = 0; k < i; ++k)
      begin += (static_cast<std::size_t>(groups_) * of_group[k] + 255) / 256 * 256;
    return begin;
  }
  template <int Kept, int I>
  auto copied(i64 const (&extents)[Kept > 0 ? Kept : 1], index_constant<I>) {
    auto const fill = [&](type<I>* to) { memory_.fetch(to, begin_of(I), static_cast<std::size_t>(groups_) * sizeof(type<I>)); };
    if constexpr (Kept == 0) {
      type<I> one;
      fill(&one);
      return one;
    } else {
      mdarray<type<I>, Kept> out(extents);
      fill(out.data());
      return out;
    }
  }
};

} // namespace detail

namespace detail {
/// Whether a program has exact sums and nothing whose order counts, of columns that lie as they are numbered: rows of it can be segments.
template <class Program>
inline constexpr bool has_exact_rows = false;
template <class... Columns, class... Leaves>
inline constexpr bool has_exact_rows<program<pack<Columns...>, Leaves...>> =
    (false || ... || exact_monoid<typename Leaves::monoid_type>) && (true && ... && Leaves::monoid_type::law.order_free) &&
    !any_checked(leaves_of<program<pack<Columns...>, Leaves...>>) && (true && ... && (planning::vector_loadable<Columns> || !memory_column<Columns>));
/// Whether groups are rows of such a program, one behind the other.
template <class Program>
bool are_exact_rows(axes_layout const& at) {
  if (!has_exact_rows<Program> || at.reduced_axes != 1 || at.kept_axes > 1)
    return false;
  bool follow = at.reduced[0].position_step == 1 && (at.kept_axes == 0 || at.kept[0].position_step == at.extent);
  for_each_index<decltype(Program::columns)::size>([&](auto c) {
    using Column = std::remove_cvref_t<decltype(get<c>(std::declval<Program const&>().columns))>;
    if constexpr (memory_column<Column>)
      follow = follow && at.reduced[0].steps[c] == 1 && (at.kept_axes == 0 || at.kept[0].steps[c] == at.extent);
  });
  return follow;
}
/// Queues such rows as segments of one size.
template <class Program, class Nodes>
void queue_exact_rows(Program const& p, Nodes const& nodes, axes_layout const& at, on::gpu_place where, contract c, answer_arrays const& to,
                      gpu::staged_columns& staged, bool launches) {
  segments_read<Program, Nodes, evenly> read{p, nodes, {{at.extent}, at.groups + 1}, {}};
  read.program.extent = at.extent * at.groups;
  read.memory.to = to;
  auto request = segments_request_for(read, 0, where, c);
  request.told = false;
  request.launches = launches;
  gpu::enqueue(request, staged);
}

/// Queues a grouping along axes on a GPU, its answers to device memory; there is something to fold. `staged` must live until the
/// stream has passed.
template <class Program, class Nodes>
void queue_groups(Program& p, Nodes const& nodes, axes_layout const& at, on::gpu_place where, contract c, answer_arrays const& to,
                          gpu::staged_columns& staged, bool launches = true) {
  static gpu::kernels_of<axes_plan> kernels;
  if constexpr (has_exact_rows<Program>)
    if (are_exact_rows<Program>(at))
      return queue_exact_rows(p, nodes, at, where, c, to, staged, launches);
  p.extent = at.extent;
  gpu::axes_request r{&group_type_of<Program, Nodes>(), &kernels, &p, &nodes, {}, {facts_of(p, target{}, c), at}, to, where.ordinal, where.queue, launches};
  places_in_grid(p, at, r.columns);
  (void)gpu::enqueue(r, staged);
}
/// The GPU that a place means: the one it names, else the one that holds the columns, else the first.
template <class Program>
int ordinal_for(Program& p, axes_layout const& at, on::gpu_place where) {
  if (where.ordinal >= 0)
    return where.ordinal;
  gpu::column_place places[max_sources]{};
  places_in_grid(p, at, places);
  int const home = gpu::home_of(places, decltype(p.columns)::size);
  return home < 0 ? 0 : home;
}
} // namespace detail

namespace detail {
/// The nodes of a grouping as a kernel makes their answers: where a fold is checked, an array of flags is one more.
template <class Program, class... Nodes>
constexpr auto nodes_in_kernel(pack<Nodes...> const& nodes) {
  if constexpr (any_checked(leaves_of<Program>))
    return join(nodes, make_pack(answers::overflow_flag{}));
  else
    return nodes;
}
template <class Program, class Nodes>
struct answers_of_nodes;
template <class Program, class... Nodes>
struct answers_of_nodes<Program, pack<Nodes...>> {
  static_assert(sizeof...(Nodes) <= max_answers);
  using type = answers_on_device<Program, Nodes...>;
};
/// The N answers of nodes_in_kernel, of which the flags are the last. Throws overflow where one is set.
template <int N, class Made>
auto checked_answers(Made made) {
  auto const& flags = std::get<N>(made);
  bool found = false;
  if constexpr (requires { flags.begin(); })
    for (u8 const f : flags)
      found = found || f != 0;
  else
    found = flags != 0;
  if (found)
    throw_overflow();
  if constexpr (N == 1)
    return std::move(std::get<0>(made));
  else
    return [&]<int... I>(index_list<I...>) { return std::tuple(std::move(std::get<I>(made))...); }(indices_up_to<N>{});
}

/// A grouping along axes that a GPU computes: queued when it is made, fetched later.
template <class Domain>
class axes_on_gpu;
template <int Rank, u32 Reduced, class Program, class... Nodes>
class axes_on_gpu<domain<groups_along_axes<Rank, Reduced>, Program, pack<Nodes...>>> {
  using Where = groups_along_axes<Rank, Reduced>;
  static constexpr int kept = Where::kept;

public:
  template <class Source>
  axes_on_gpu(domain<Where, Program, pack<Nodes...>> const& d, Source const& s, on::gpu_place where, contract c) : d_(d), at_(layout_of(d.program, s, Where::is_reduced)) {
    if (gpu::device_count() == 0)
      throw no_gpu(gpu::why_no_device());
    kept_extents(Where{}, s, extents_);
    if (at_.groups == 0 || at_.extent == 0 || Program::leaf_count == 0)
      return;
    auto p = d.program;
    where.ordinal = ordinal_for(p, at_, where);
    answers_.emplace(at_.groups, where.ordinal, where.queue);
    queue_groups(p, nodes_in_kernel<Program>(d_.nodes), at_, where, c, answers_->places(), staged_);
  }
  /// Of the device, until this is gone; columns that were staged count as more than any.
  std::size_t bytes() const { return staged_.any() ? ~std::size_t(0) : answers_ ? answers_->bytes() : 0; }
  auto fetch() {
    if (answers_) {
      if constexpr (any_checked(leaves_of<Program>))
        return checked_answers<int(sizeof...(Nodes))>(answers_->template fetch<kept>(extents_));
      else
        return answers_->template fetch<kept>(extents_);
    }
    std::vector<typename Program::states> const identities(static_cast<std::size_t>(at_.groups), d_.program.identity());
    return arrays_of_answers<kept>(d_, identities, extents_, 0, [&](i64) { return at_.extent; });
  }

private:
  domain<Where, Program, pack<Nodes...>> d_;
  axes_layout at_;
  i64 extents_[kept > 0 ? kept : 1]{};
  gpu::staged_columns staged_;
  std::optional<typename answers_of_nodes<Program, decltype(nodes_in_kernel<Program>(pack<Nodes...>{}))>::type> answers_;
};
} // namespace detail

/// The answers of a grouping along axes, from a GPU.
template <int Rank, u32 Reduced, class Program, class... Nodes, class Source>
auto compute_groups(domain<groups_along_axes<Rank, Reduced>, Program, pack<Nodes...>> const& d, Source const& s, on::gpu_place where,
                    contract c) {
  return detail::axes_on_gpu<std::remove_cvref_t<decltype(d)>>(d, s, where, c).fetch();
}

namespace detail {
/// Room for the answers of all groups, as arrays_of_answers gives them.
template <class T, int Kept>
struct answer_room {
  mdarray<T, Kept> array;
  explicit answer_room(i64 const (&extents)[Kept]) : array(extents) {}
  T* data() { return array.data(); }
  auto take() { return std::move(array); }
};
template <class T>
struct answer_room<T, 0> {
  T one{};
  explicit answer_room(i64 const (&)[1]) {}
  T* data() { return &one; }
  T take() { return one; }
};

/// Takes the states of groups, from whichever core has them, and writes their answers. Its type knows the program and the nodes and
/// no axes, so that one set of loops folds all groupings of a program along axes.
template <class Program, class... Nodes>
struct answer_writer {
  Program const& program;
  pack<Nodes...> const& nodes;
  i64 extent;
  shared_word<bool>* overflowed; ///< set where a state has left its range
  std::tuple<group_answer_of<Nodes, Program>*...> to;

  template <class States>
  void operator()(i64 g, i64 n, States const& states) const {
    if constexpr (any_checked(leaves_of<Program>))
      for (i64 k = 0; k < n; ++k)
        if (answers::any_overflowed(program.leaves, states[k]))
          overflowed->store(true);
    for_each_index<int(sizeof...(Nodes))>([&](auto i) {
      auto* const out = std::get<i>(to) + g;
      using T = std::remove_cvref_t<decltype(*out)>;
      auto const answer = [&](i64 k) TALLY_INLINE_LAMBDA { return group_answer(get<i>(nodes), program.leaves, states[k], extent); };
      if constexpr (std::is_arithmetic_v<T>)
        cpu::detail::write_in_loops(out, n, answer);
      else
        for (i64 k = 0; k < n; ++k)
          out[k] = answer(k);
    });
  }
};
/// The states of groups that have no element, or nothing to fold.
template <class States>
struct states_of_nothing {
  States identity;
  States const& operator[](i64) const { return identity; }
};
/// A grouping along axes on the host: where its answers go, whoever folds it.
template <class Domain>
class groups_on_host;
template <int Rank, u32 Reduced, class Program, class... Nodes>
class groups_on_host<domain<groups_along_axes<Rank, Reduced>, Program, pack<Nodes...>>> {
  using Where = groups_along_axes<Rank, Reduced>;
  static constexpr int kept = Where::kept;

public:
  template <class Source>
  groups_on_host(domain<Where, Program, pack<Nodes...>> const& d, Source const& s) : d_(d), at_(layout_of(d.program, s, Where::is_reduced)), rooms_(rooms_for(s)) {}
  groups_on_host(groups_on_host const&) = delete;
  Program const& program() const { return d_.program; }
  axes_layout const& at() const { return at_; }
  /// Takes the states of groups.
  answer_writer<Program, Nodes...> writer() {
    return {d_.program, d_.nodes, at_.extent, &overflowed_, std::apply([](auto&... room) { return std::tuple(room.data()...); }, rooms_)};
  }
  void fold(int threads) {
    auto const write = writer();
    if constexpr (Program::leaf_count > 0)
      if (at_.groups > 0 && at_.extent > 0) {
        auto p = d_.program;
        gpu::column_place places[max_sources]{};
        places_in_grid(p, at_, places);
        check_host_can_read(places, decltype(p.columns)::size);
        return cpu::fold_groups(d_.program, at_, threads, write);
      }
    write(0, at_.groups, states_of_nothing<typename Program::states>{d_.program.identity()});
  }
  /// The arrays of answers, which then are gone. Throws overflow.
  auto take() {
    if (overflowed_.load())
      throw_overflow();
    if constexpr (sizeof...(Nodes) == 1)
      return std::get<0>(rooms_).take();
    else
      return std::apply([](auto&... room) { return std::tuple(room.take()...); }, rooms_);
  }

private:
  using rooms = std::tuple<answer_room<group_answer_of<Nodes, Program>, kept>...>;
  domain<Where, Program, pack<Nodes...>> d_;
  axes_layout at_;
  rooms rooms_;
  shared_word<bool> overflowed_;
  template <class Source>
  static rooms rooms_for(Source const& s) {
    i64 extents[kept > 0 ? kept : 1]{};
    kept_extents(Where{}, s, extents);
    return rooms(answer_room<group_answer_of<Nodes, Program>, kept>(extents)...);
  }
};
} // namespace detail

/// The answers of a grouping along axes, on the host.
template <int Rank, u32 Reduced, class Program, class... Nodes, class Source>
auto compute_groups(domain<groups_along_axes<Rank, Reduced>, Program, pack<Nodes...>> const& d, Source const& s, on::cpu_place where,
                    contract) {
  detail::groups_on_host<std::remove_cvref_t<decltype(d)>> groups(d, s);
  groups.fold(where.thread_count);
  return groups.take();
}

} // namespace tally::v0
