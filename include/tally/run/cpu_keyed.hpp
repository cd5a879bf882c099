// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key on the CPU. Layer 5, host only. Folds whose order is free take elements as they come: every worker keeps a table of
// its own while there are many more elements than slots, else a range of the slots of one table. The others are folded group by
// group, after a stable sort of the elements by slot, each along the canonical tree of its own elements.
#pragma once

#include <optional>

#include <tally/run/cpu_key_tables.hpp>

namespace tally::v0::cpu {

/// Elements that are worth a worker of their own, and how many an own table has to see for each of its slots.
inline constexpr i64 elements_of_worker = 64 * 1024;
inline constexpr i64 elements_of_own_slot = 4;

namespace detail {

/// Whether a leaf takes elements in any order: AnyOrder says that bits may depend on it.
template <class Leaf, bool AnyOrder>
inline constexpr bool taken_as_they_come = AnyOrder ? Leaf::monoid_type::law.commutative : Leaf::monoid_type::law.order_free;

/// No table: the states of a leaf that needs its order.
template <class Leaf>
class sorted_table {
public:
  using state = typename Leaf::state;
  using near_state = state;
  sorted_table(Leaf const& leaf, std::size_t slots, std::size_t, int, int) : of_(slots, leaf.monoid.identity()) {}
  void clear(int, std::size_t, std::size_t) {}
  template <class Walk>
  void look_at(Walk const&, i64) {}
  template <int N, class RowOf>
  TALLY_INLINE void feed(int, int, int, RowOf const&, block_of_slots const&) {}
  template <int N, class RowOf>
  TALLY_INLINE void feed_row(int, int, int, RowOf const&, std::size_t, u32) {}
  TALLY_INLINE void end_block(int, int, std::size_t, std::size_t) {}
  void merge(std::size_t, std::size_t) {}
  state& at(std::size_t slot) { return of_[slot]; }
  state const& operator()(std::size_t slot) const { return of_[slot]; }
  bool near(std::size_t slot, near_state& to) const { return to = of_[slot], true; }

private:
  std::vector<state> of_;
};
template <class Leaf, bool AnyOrder>
using table_for = std::conditional_t<taken_as_they_come<Leaf, AnyOrder>, key_table_t<Leaf>, sorted_table<Leaf>>;

/// How the elements are shared out.
struct keyed_shares {
  i64 extent;  ///< reduced indices
  int workers;
  bool by_slots; ///< one table, a range of its slots each, else a table each
  std::size_t slots;
  i64 first(int w) const { return by_slots ? 0 : extent / workers * w + (w < extent % workers ? w : extent % workers); }
  i64 last(int w) const { return by_slots ? extent : first(w + 1); }
  std::size_t own(int w) const { return by_slots ? slots / std::size_t(workers) * std::size_t(w) : 0; }
  std::size_t own_end(int w) const { return by_slots && w + 1 < workers ? own(w + 1) : slots; }
  int tables() const { return by_slots ? 1 : workers; }
  int table_of(int w) const { return by_slots ? 0 : w; }
  std::size_t room() const { return slots + idle_slots * std::size_t(by_slots ? workers : 1); }
  u32 idle(int w) const { return static_cast<u32>(slots) + (by_slots ? idle_slots * u32(w) : 0); }
};
inline keyed_shares share_out(i64 extent, i64 groups, std::size_t slots, int threads) {
  i64 const elements = extent * groups, cores = threads > 0 ? threads : core_count();
  auto const from_1_to = [](i64 most, i64 n) { return n > most ? most : n < 1 ? 1 : n; };
  i64 const busy = from_1_to(cores, elements / elements_of_worker);
  i64 const with_own = from_1_to(busy, elements / (elements_of_own_slot * i64(slots) + 1));
  bool const by_slots = with_own * 2 <= busy;
  return {extent, int(by_slots ? busy : with_own), by_slots, slots};
}

/// What takes blocks: the tables of all leaves, as one worker sees them.
template <class Tables>
struct keyed_sink {
  Tables& tables;
  int worker, table;
  std::size_t own, own_end;
  u32 idle;
  static constexpr int count = Tables::size;
  template <int N, class RowOf>
  TALLY_INLINE void take(int n, RowOf const& row_of, block_of_slots& slots) {
    for_each_index<count>([&](auto i) TALLY_INLINE_LAMBDA {
      get<i>(tables)->template feed<N>(worker, table, n, row_of, slots);
      get<i>(tables)->end_block(worker, n, own, own_end);
    });
  }
  template <int N, class RowOf>
  TALLY_INLINE void take_row(int n, RowOf const& row_of, u32 first) {
    for_each_index<count>([&](auto i) TALLY_INLINE_LAMBDA {
      get<i>(tables)->template feed_row<N>(worker, table, n, row_of, first, idle);
      get<i>(tables)->end_block(worker, n, own, own_end);
    });
  }
};
/// Notes the slot of every element, in their order.
struct slot_notes {
  u32* to;
  std::size_t slots;
  template <int N, class RowOf>
  TALLY_INLINE void take(int n, RowOf const&, block_of_slots const& of) {
    for (int j = 0; j < n; ++j) *to++ = of.slot[j] < slots ? of.slot[j] : static_cast<u32>(slots);
  }
  template <int N, class RowOf>
  TALLY_INLINE void take_row(int, RowOf const&, u32) {}
};

/// The elements of one group as a program's rows: in the order of the source, each with its position there.
template <class Walk>
struct rows_of_group {
  Walk const& walk;
  i64 const* elements;
  auto row_at(i64 i) const { return walk.row_of_element(elements[i], i); }
};

/// Elements sorted by slot, in their order within.
struct sorted_elements {
  std::vector<i64> begin; ///< of every slot, and the end of the last
  std::vector<i64> element;
};
inline sorted_elements sort_by_slot(std::vector<u32> const& slot, std::size_t slots) {
  sorted_elements s{std::vector<i64>(slots + 2), std::vector<i64>(slot.size())};
  for (u32 const g : slot) ++s.begin[g + 1];
  for (std::size_t g = 1; g < s.begin.size(); ++g) s.begin[g] += s.begin[g - 1];
  std::vector<i64> next(s.begin.begin(), s.begin.end());
  for (std::size_t t = 0; t < slot.size(); ++t) s.element[std::size_t(next[slot[t]]++)] = static_cast<i64>(t);
  return s;
}

} // namespace detail

/// The states of all slots, leaf by leaf, after a walk over all elements.
template <bool AnyOrder, class Where, class Program, class Bins>
class keyed_states;
template <bool AnyOrder, class Where, class Columns, class... Leaves, class Bins>
class keyed_states<AnyOrder, Where, program<Columns, Leaves...>, Bins> {
public:
  using program_type = program<Columns, Leaves...>;
  using states = typename program_type::states;

  keyed_states(Where const& where, program_type const& p, axes_layout const& at, Bins const& bins, i64 bin_count, int threads)
      : walk_(where, p, at, bins), threads_(threads),
        shares_(detail::share_out(at.extent, at.groups, std::size_t(bin_count * at.groups), threads)),
        tables_{} {
    for_each_index<leaf_count>([&](auto i) {
      get<i>(tables_).emplace(get<i>(p.leaves), shares_.slots, shares_.room(), shares_.tables(), shares_.workers);
      get<i>(tables_)->look_at(walk_, at.extent * at.groups);
    });
  }

  /// Folds everything; the first stray there was.
  first_stray fold() {
    std::vector<first_stray> strays(std::size_t(shares_.workers));
    auto tables = pointers();
    detail::spread_over_cores(shares_.workers, shares_.workers, [&](i64 worker) {
      int const w = static_cast<int>(worker), table = shares_.table_of(w);
      for_each_index<leaf_count>([&](auto i) {
        get<i>(tables)->clear(table, shares_.own(w), shares_.own_end(w));
        get<i>(tables)->clear(table, shares_.idle(w), shares_.idle(w) + idle_slots);
      });
      detail::keyed_sink<decltype(tables)> sink{tables, w, table, shares_.own(w), shares_.own_end(w), shares_.idle(w)};
      run_worker(w, strays[std::size_t(w)], sink);
    });
    first_stray first;
    for (auto const& s : strays)
      if (s.position >= 0) first.meet(s.position, s.key, s.key_is_unsigned);
    if (first.position >= 0) return first;
    merge();
    if constexpr (!(true && ... && detail::taken_as_they_come<Leaves, AnyOrder>)) fold_sorted();
    return first;
  }
  /// Leaves all slots empty.
  void clear() {
    auto tables = pointers();
    for_each_index<leaf_count>([&](auto i) { get<i>(tables)->clear(0, 0, shares_.slots); });
  }
  std::size_t size() const { return shares_.slots; }
  states operator[](std::size_t slot) const {
    return [&]<int... I>(index_list<I...>) { return make_pack((*get<I>(tables_))(slot)...); }(indices_up_to<leaf_count>{});
  }
  /// The same with exact sums as three doubles; false: one is not.
  using near_states = pack<typename detail::table_for<Leaves, AnyOrder>::near_state...>;
  bool near(std::size_t slot, near_states& to) const
    requires(!std::is_same_v<near_states, states>)
  {
    return [&]<int... I>(index_list<I...>) { return ((*get<I>(tables_)).near(slot, get<I>(to)) && ...); }(indices_up_to<leaf_count>{});
  }

private:
  static constexpr int leaf_count = int(sizeof...(Leaves));
  using walk_type = keyed_walk<Where, program_type, Bins>;
  walk_type walk_;
  int threads_;
  detail::keyed_shares shares_;
  pack<std::optional<detail::table_for<Leaves, AnyOrder>>...> tables_; // which cannot move

  auto pointers() {
    return [&]<int... I>(index_list<I...>) { return make_pack(&*get<I>(tables_)...); }(indices_up_to<leaf_count>{});
  }
  template <class Sink>
  void run_worker(int w, first_stray& stray, Sink& sink) {
    u32 const end = shares_.by_slots ? static_cast<u32>(shares_.own_end(w)) : static_cast<u32>(-1);
    u32 const own = static_cast<u32>(shares_.own(w)), idle = shares_.idle(w);
    i64 const first = shares_.first(w), last = shares_.last(w);
    if constexpr (!detail::registers_are_certain)
      if (!detail::has_registers()) return walk_.walk_plainly(first, last, own, end, idle, stray, sink);
    detail::with_registers([&]() TALLY_INLINE_LAMBDA { walk_.walk(first, last, own, end, idle, stray, sink); });
  }
  void merge() {
    auto tables = pointers();
    i64 const slots = static_cast<i64>(shares_.slots), chunk = 16 * 1024, chunks = (slots + chunk - 1) / chunk;
    if (chunks == 0) return;
    detail::spread_over_cores(chunks, threads_, [&](i64 c) {
      auto const from = std::size_t(c * chunk), to = std::size_t((c + 1) * chunk < slots ? (c + 1) * chunk : slots);
      for_each_index<leaf_count>([&](auto i) { get<i>(tables)->merge(from, to); });
    });
  }
  void fold_sorted() {
    auto const& at = walk_.layout();
    std::vector<u32> slot(std::size_t(at.extent * at.groups));
    detail::slot_notes notes{slot.data(), shares_.slots};
    first_stray stray;
    walk_.walk_plainly(0, at.extent, 0, static_cast<u32>(-1), static_cast<u32>(shares_.slots), stray, notes);
    auto const sorted = detail::sort_by_slot(slot, shares_.slots);
    auto tables = pointers();
    auto const& p = walk_.program_of();
    i64 const slots = static_cast<i64>(shares_.slots), chunk = 64, chunks = (slots + chunk - 1) / chunk;
    if (chunks == 0) return;
    detail::spread_over_cores(chunks, threads_, [&](i64 c) {
      for (i64 g = c * chunk; g < (c + 1) * chunk && g < slots; ++g)
        for_each_index<leaf_count>([&](auto i) {
          if constexpr (!detail::taken_as_they_come<nth_t<i, Leaves...>, AnyOrder>)
            get<i>(tables)->at(std::size_t(g)) = fold_group(p, get<i>(p.leaves), sorted.element.data() + sorted.begin[std::size_t(g)],
                                                            sorted.begin[std::size_t(g) + 1] - sorted.begin[std::size_t(g)]);
        });
    });
  }
  template <class Leaf>
  typename Leaf::state fold_group(program_type const&, Leaf const& leaf, i64 const* elements, i64 n) const {
    using state = typename Leaf::state;
    constexpr leaf_shape shape = shape_of<program_type>;
    if (n == 0) return leaf.monoid.identity();
    detail::rows_of_group<walk_type> const rows{walk_, elements};
    auto const combine = [&](state const& a, state const& b) { return leaf.monoid.combine(a, b); };
    neighbour_stack<state, 48> tree;
    for (i64 first = 0; first < n; first += shape.elements())
      tree.push(combine, detail::fold_leaf<shape>(rows, leaf, first, int(n - first < shape.elements() ? n - first : shape.elements())));
    return tree.root(combine);
  }
};

} // namespace tally::v0::cpu
