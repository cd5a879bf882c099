// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a core walks through strips of neighbouring groups: leaf after leaf, lane after lane, in whichever direction the
// elements lie together. Layer 5, host only.
#pragma once

#include <tally/run/cpu_strips.hpp>

namespace tally::v0::cpu {

namespace detail {

/// A place that walks along the reduced axes, element after element.
template <int Columns>
struct group_walker {
  i64 element;
  grid_place<Columns> place{};
  i64 index[max_axes]{};
  group_walker() = default;
  group_walker(axes_layout const& at, i64 first) : element(first) {
    move_along(place, at.reduced, at.reduced_axes, first);
    i64 left = first;
    for (int k = at.reduced_axes - 1; k >= 0; --k) {
      index[k] = left % at.reduced[k].extent;
      left /= at.reduced[k].extent;
    }
  }
  TALLY_INLINE void advance(axes_layout const& at) {
    ++element;
    for (int k = at.reduced_axes - 1; k >= 0; --k) {
      place.move(at.reduced[k], 1);
      if (++index[k] < at.reduced[k].extent) return;
      place.move(at.reduced[k], -index[k]);
      index[k] = 0;
    }
  }
};

/// How the elements of strips lie.
template <class... Columns>
strip_lie lie_of_strips(pack<Columns...> const*, axes_layout const& at) {
  auto const every_column_steps_by_one = [](grid_axis const& a) {
    bool all = true;
    int c = 0;
    ((all = all && (!memory_column<Columns> || a.steps[c] == 1), ++c), ...);
    return all;
  };
  if (at.kept_axes > 0 && at.kept[at.kept_axes - 1].extent >= groups_in_strip && every_column_steps_by_one(at.kept[at.kept_axes - 1]))
    return strip_lie::groups_together;
  return at.reduced_axes == 1 && every_column_steps_by_one(at.reduced[0]) ? strip_lie::elements_together : strip_lie::apart;
}

/// What a core walks through at once: strips of one program, from a leaf on.
template <class Program>
class strip_walk;
template <class... Columns, class... Leaves>
class strip_walk<program<pack<Columns...>, Leaves...>> {
public:
  using program_type = program<pack<Columns...>, Leaves...>;
  using states = typename program_type::states;
  static constexpr int column_count = int(sizeof...(Columns));
  static constexpr int width = groups_in_strip;
  static constexpr leaf_shape shape = shape_of<program_type>;

  strip_walk(program_type const& p, axes_layout const& at) : p_(p), at_(at) {
    for (int c = 0; c < column_count; ++c) {
      end_[c] = 1;
      auto const reach = [&](grid_axis const& a) { end_[c] += a.steps[c] > 0 ? (a.extent - 1) * a.steps[c] : 0; };
      for (int k = 0; k < at.kept_axes; ++k) reach(at.kept[k]);
      for (int k = 0; k < at.reduced_axes; ++k) reach(at.reduced[k]);
    }
  }
  i64 strips() const { return at_.groups / row_groups_ * strips_in_row_; }
  /// The first group that a strip answers for.
  i64 first_group(i64 strip) const { return strip / strips_in_row_ * row_groups_ + strip % strips_in_row_ * width; }
  int groups_of(i64 strip) const {
    i64 const left = row_groups_ - strip % strips_in_row_ * width;
    return left < width ? int(left) : width;
  }

  /// Folds leaves [leaf, leaf + leaf_count) of strips [strip, strip + strip_count); out[k] receives the states of group k, counted from
  /// the first group of the first strip.
  TALLY_INLINE void fold(i64 strip, int strip_count, i64 leaf, i64 leaf_count, states* out) const {
    bool const together = lie_ == strip_lie::groups_together;
    int const at_once = together ? strip_count : 1;
    folders f;
    for_each_index<int(sizeof...(Leaves))>([&](auto i) { get<i>(f).begin(get<i>(p_.leaves), at_once, leaf_count * shape.elements()); });
    std::vector<grid_place<column_count>> origins(std::size_t(at_once) * width);
    i64 const begin = first_group(strip);
    for (int s = 0; s < strip_count; s += at_once) {
      for (int k = 0; k < at_once; ++k) set_origins(strip + s + k, origins.data() + std::size_t(k) * width);
      for_each_index<int(sizeof...(Leaves))>([&](auto i) { get<i>(f).restart(); });
      for (i64 k = leaf; k < leaf + leaf_count; ++k) {
        i64 const left = at_.extent - k * shape.elements();
        int const n = left < shape.elements() ? int(left) : shape.elements();
        if (lie_ == strip_lie::elements_together)
          fold_leaf_turned(f, origins.data(), k, n);
        else
          fold_leaf_across(f, origins.data(), at_once, k, n);
        fold_leaf_in_order(f, origins.data(), at_once, k, n);
      }
      for (int k = 0; k < at_once; ++k)
        for_each_index<int(sizeof...(Leaves))>([&](auto i) {
          typename std::remove_cvref_t<decltype(get<i>(f))>::states root;
          get<i>(f).root(k, root);
          i64 const first = first_group(strip + s + k) - begin;
          int const skipped = groups_skipped(strip + s + k);
          for (int j = 0; j < groups_of(strip + s + k); ++j) get<i>(out[first + j]) = root.state(skipped + j);
        });
    }
  }

private:
  using row_type = decltype(row_at_place(std::declval<pack<Columns...> const&>(), grid_place<column_count>{}, 0));
  template <class Leaf>
  using folder = strip_folder<shape, Leaf, row_type>;
  using folders = pack<folder<Leaves>...>;
  program_type const& p_;
  axes_layout const& at_;
  strip_lie lie_ = lie_of_strips(static_cast<pack<Columns...> const*>(nullptr), at_);
  i64 row_groups_ = planning::groups_of_strips(at_, lie_), strips_in_row_ = planning::strips_of(row_groups_);
  i64 end_[column_count > 0 ? column_count : 1]; ///< behind the last element of a column

  /// How many groups of a strip belong to the strip before it: where groups lie together, a strip is always full.
  int groups_skipped(i64 strip) const { return lie_ == strip_lie::groups_together ? width - groups_of(strip) : 0; }
  /// Where the groups of a strip begin; the first alone where the others lie beside it.
  TALLY_INLINE void set_origins(i64 strip, grid_place<column_count>* origins) const {
    i64 const first = first_group(strip) - groups_skipped(strip);
    grid_place<column_count> at = group_origin<column_count>(at_, first);
    origins[0] = at;
    if (lie_ == strip_lie::groups_together) return;
    int const n = groups_of(strip);
    for (int j = 1; j < width; ++j) {
      if (j < n && at_.kept_axes == 1)
        at.move(at_.kept[0], 1);
      else if (j < n)
        at = group_origin<column_count>(at_, first + j);
      origins[j] = at;
    }
  }
  TALLY_INLINE auto row_at(grid_place<column_count> here, grid_place<column_count> const& by, i64 element) const {
    here.position += by.position;
    for (int c = 0; c < column_count; ++c) here.offset[c] += by.offset[c];
    return row_at_place(p_.columns, here, element);
  }
  /// Group j of a strip, of which the first is at base.
  TALLY_INLINE grid_place<column_count> beside(grid_place<column_count> base, int j) const {
    base.position += j * at_.kept[at_.kept_axes - 1].position_step;
    for (i64& o : base.offset) o += j;
    return base;
  }

  /// The commuting folds of a leaf of n elements, lane after lane.
  TALLY_INLINE void fold_leaf_across(folders& f, grid_place<column_count> const* origins, int strips, i64 leaf, int n) const {
    constexpr int lanes = shape.lanes(), rows = shape.rows;
    group_walker<column_count> walkers[rows];
    for (int r = 0; r < rows && r * lanes < n; ++r) walkers[r] = {at_, leaf * shape.elements() + r * lanes};
    for (int l = 0; l < lanes && l < n; ++l) {
      int const count = (n - 1 - l) / lanes + 1;
      for (int s = 0; s < strips; ++s) feed_lane(f, s, count, origins + s * width, walkers);
      advance_commuting(f);
      for (int r = 0; r < count; ++r) walkers[r].advance(at_);
    }
  }
  TALLY_INLINE void feed_lane(folders& f, int s, int count, grid_place<column_count> const* origins,
                              group_walker<column_count> const* walkers) const {
    if (lie_ == strip_lie::groups_together) {
      auto const row_of = [&](int r, int j) TALLY_INLINE_LAMBDA {
        return row_at(beside(origins[0], j), walkers[r].place, walkers[r].element);
      };
      feed_row_of<true>(f, s, count, origins, walkers, row_of);
    } else {
      auto const row_of = [&](int r, int j) TALLY_INLINE_LAMBDA {
        return row_at(origins[j], walkers[r].place, walkers[r].element);
      };
      feed_row_of<false>(f, s, count, origins, walkers, row_of);
    }
  }
  template <bool Together, class RowOf>
  TALLY_INLINE void feed_row_of(folders& f, int s, int count, grid_place<column_count> const* origins,
                                group_walker<column_count> const* walkers, RowOf const& row_of) const {
    for_each_index<int(sizeof...(Leaves))>([&](auto i) TALLY_INLINE_LAMBDA {
      using Folder = std::remove_cvref_t<decltype(get<i>(f))>;
      if constexpr (Folder::in_registers) {
        auto const in_place = [&](int r) TALLY_INLINE_LAMBDA {
          if constexpr (Together)
            return memory_of<Folder>(origins[0], walkers[r].place);
          else
            return nullptr;
        };
        get<i>(f).feed(s, count, in_place, row_of, step_within<Folder::column>());
      } else if constexpr (!Folder::by_row) {
        get<i>(f).feed(s, count, row_of);
      }
    });
  }
  /// How far the next element of a group is in a column.
  template <int Column>
  TALLY_INLINE i64 step_within() const {
    if constexpr (Column >= 0)
      return at_.reduced_axes > 0 ? at_.reduced[at_.reduced_axes - 1].steps[Column] : 0;
    else
      return 0;
  }
  /// Whether a column has elements up to `end`, counted from an origin.
  template <int Column>
  TALLY_INLINE bool room_in([[maybe_unused]] i64 const* offset, [[maybe_unused]] i64 end) const {
    if constexpr (Column >= 0)
      return offset[Column] + end <= end_[Column];
    else
      return false;
  }
  /// Where the numbers that a fold reads in place lie; null where they are computed.
  template <class Folder>
  TALLY_INLINE auto memory_of(grid_place<column_count> const& origin, grid_place<column_count> const& by) const {
    if constexpr (memory_column_at<Folder::column>())
      return reinterpret_cast<typename Folder::number const*>(get<Folder::column>(p_.columns).data + origin.offset[Folder::column] +
                                                              by.offset[Folder::column]);
    else
      return nullptr;
  }
  template <int I>
  static constexpr bool memory_column_at() {
    if constexpr (I < 0)
      return false;
    else
      return memory_column<nth_t<I, Columns...>>;
  }
  TALLY_INLINE void advance_commuting(folders& f) const {
    for_each_index<int(sizeof...(Leaves))>([&](auto i) {
      if constexpr (!std::remove_cvref_t<decltype(get<i>(f))>::by_row) get<i>(f).advance();
    });
  }

  /// The commuting folds of a leaf whose elements are neighbours in memory.
  TALLY_INLINE void fold_leaf_turned(folders& f, grid_place<column_count> const* origins, i64 leaf, int n) const {
    constexpr int lanes = shape.lanes(), block = 8;
    i64 const first = leaf * shape.elements();
    i64 const position_step = at_.reduced_axes > 0 ? at_.reduced[0].position_step : 0;
    auto const place_of = [&](int e) TALLY_INLINE_LAMBDA { // their columns step by one
      grid_place<column_count> p{};
      p.position = (first + e) * position_step;
      for (i64& o : p.offset) o = first + e;
      return p;
    };
    for (int l = 0; l < lanes && l < n; l += block)
      for_each_index<int(sizeof...(Leaves))>([&](auto i) TALLY_INLINE_LAMBDA {
        using Folder = std::remove_cvref_t<decltype(get<i>(f))>;
        if constexpr (Folder::by_row) {
        } else if constexpr (turns<Folder>()) {
          auto const value_at = [&](int e, int j) TALLY_INLINE_LAMBDA {
            return memory_of<Folder>(origins[j], place_of(e));
          };
          auto const room = [&](int e, int j, int k) TALLY_INLINE_LAMBDA {
            return room_in<Folder::column>(origins[j].offset, first + e + k);
          };
          auto const row_of = [&](int e, int j) TALLY_INLINE_LAMBDA { return row_at(origins[j], place_of(e), first + e); };
          for (int k = l; k < l + block && k < n; k += Folder::n, get<i>(f).advance())
            get<i>(f).feed_turned(0, k, n, value_at, room, row_of);
        } else {
          for (int k = l; k < l + block && k < n; ++k, get<i>(f).advance()) {
            auto const row_of = [&](int r, int j) TALLY_INLINE_LAMBDA {
              return row_at(origins[j], place_of(k + r * lanes), first + k + r * lanes);
            };
            if constexpr (Folder::in_registers)
              get<i>(f).feed(0, (n - 1 - k) / lanes + 1, [](int) { return nullptr; }, row_of);
            else
              get<i>(f).feed(0, (n - 1 - k) / lanes + 1, row_of);
          }
        }
      });
  }
  template <class Folder>
  static constexpr bool turns() {
    if constexpr (Folder::in_registers)
      return Folder::turns;
    else
      return false;
  }

  /// The folds of a leaf that do not commute, element after element.
  TALLY_INLINE void fold_leaf_in_order(folders& f, grid_place<column_count> const* origins, int strips, i64 leaf, int n) const {
    if constexpr ((folder<Leaves>::by_row || ...)) {
      group_walker<column_count> w(at_, leaf * shape.elements());
      for (int e = 0; e < n; ++e, w.advance(at_)) {
        for (int s = 0; s < strips; ++s) {
          auto const row_of = [&](int, int j) TALLY_INLINE_LAMBDA {
            auto const origin = lie_ == strip_lie::groups_together ? beside(origins[s * width], j) : origins[s * width + j];
            return row_at(origin, w.place, w.element);
          };
          for_each_index<int(sizeof...(Leaves))>([&](auto i) TALLY_INLINE_LAMBDA {
            if constexpr (std::remove_cvref_t<decltype(get<i>(f))>::by_row) get<i>(f).feed(s, 1, row_of);
          });
        }
        for_each_index<int(sizeof...(Leaves))>([&](auto i) {
          if constexpr (std::remove_cvref_t<decltype(get<i>(f))>::by_row) get<i>(f).advance();
        });
      }
    }
  }
};

} // namespace detail

} // namespace tally::v0::cpu
