// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verbs partial, merge and finish: a reduction in parts, on other days and other machines, with the bits of one run.
// Layer 5. A partial keeps the states of whole subtrees of the canonical tree, so merging neighbours completes the same
// tree that run() builds.
#pragma once

#include <tally/run/kind.hpp>
#include <tally/run/partial_bytes.hpp>
#include <tally/run/run.hpp>

namespace tally::v0 {

/// The place of a part in the whole; made by starting_at().
struct part_position {
  i64 element;
};
/// Says that the first element of the source is element `element` of the whole.
constexpr part_position starting_at(i64 element) { return {element}; }

namespace detail {

template <class... Leaves>
constexpr bool all_order_free(pack<Leaves...> const*) {
  return (true && ... && Leaves::monoid_type::law.order_free);
}
} // namespace detail

/// The states of a part of a whole: elements [begin, end) of it. A value; it refers to no column.
template <class Row, leaf_shape Shape, class Program, class Nodes, class... Folds>
class partial_states {
public:
  using states = typename Program::states;
  static constexpr bool any_order = detail::all_order_free(static_cast<decltype(Program::leaves) const*>(nullptr));

  /// The elements covered, by their position in the whole.
  i64 begin_element() const { return begin_; }
  i64 end_element() const { return end_; }

  /// Nothing yet, at an element of the whole.
  partial_states(Program const& program, Nodes const& nodes, pack<Folds...> const& folds, i64 begin)
      : bound_{program, nodes}, folds_{folds}, kind_(detail::kind_of<Row>(program)), begin_(begin), end_(begin) {}

  /// Folds the elements of a source that lie at [begin_element(), begin_element() + extent).
  template <class Whole, class Place>
  void fold(Whole const& p, Place where, contract c) {
    if (p.extent == 0)
      return;
    end_ = begin_ + p.extent;
    if constexpr (any_order) {
      parts_.push_back({{0, 0}, compute(at(p, 0, p.extent), where, c)});
    } else {
      i64 const elements = Shape.elements(), leaves = (end_ - 1) / elements + 1;
      for (i64 leaf = begin_ / elements; leaf < leaves;) {
        int level = 0;
        while ((leaf & (i64(1) << level)) == 0 && (i64(2) << level) <= leaves - leaf)
          ++level;
        partials::node const n{leaf >> level, level};
        i64 const from = n.first_leaf() * elements, to = n.end_leaf() * elements;
        parts_.push_back({n, compute(at(p, from - begin_, (to < end_ ? to : end_) - from), where, c)});
        leaf = n.end_leaf();
      }
    }
  }

  /// Takes in the part that follows; throws misaligned_partial when it does not.
  void append(partial_states const& right) {
    if (kind_ != right.kind_ || detail::formula_of(bound_.nodes) != detail::formula_of(right.bound_.nodes))
      throw misaligned_partial("the partials captured different values.");
    if (end_ != right.begin_)
      throw misaligned_partial("the partials cover " + covered() + " and " + right.covered() + ": they are no neighbours.");
    if (!any_order && begin_ != end_ && right.begin_ != right.end_ && end_ % Shape.elements() != 0)
      throw misaligned_partial("a partial that ends at " + std::to_string(end_) + ", inside a leaf of " +
                               std::to_string(Shape.elements()) + " elements, is the last one.");
    for (auto const& p : right.parts_)
      push(p);
    end_ = right.end_;
  }

  /// The answers over the elements covered.
  auto answers() const {
    auto b = bound_;
    b.program.extent = end_ - begin_;
    struct {
      pack<Folds...> folds;
    } const of{folds_};
    return detail::answers_of(of, b, root());
  }

  partials::contents contents() const {
    partials::contents c = form();
    c.begin = begin_, c.end = end_;
    for (auto const& p : parts_) {
      c.nodes.push_back(p.at);
      for_each_index<Program::leaf_count>([&](auto i) {
        auto state = get<i>(p.value);
#if __has_builtin(__builtin_clear_padding)
        __builtin_clear_padding(&state); // bytes that are no part of a value are those of the stack
#endif
        auto const* const from = reinterpret_cast<std::byte const*>(&state);
        c.states.insert(c.states.end(), from, from + sizeof state);
      });
    }
    return c;
  }
  /// What bytes of such a partial must agree with.
  partials::contents form() const { return {kind_, Shape, any_order, bytes_of_states(), 0, 0, {}, {}}; }
  void read(partials::contents const& c) {
    begin_ = c.begin, end_ = c.end;
    auto const* from = c.states.data();
    for (auto const& n : c.nodes) {
      part p{n, bound_.program.identity()};
      for_each_index<Program::leaf_count>([&](auto i) {
        std::memcpy(&get<i>(p.value), from, sizeof(get<i>(p.value)));
        from += sizeof(get<i>(p.value));
      });
      push(p);
    }
  }

private:
  struct part {
    partials::node at;
    states value;
  };
  bound_reduction<Program, Nodes> bound_;
  pack<Folds...> folds_;
  u64 kind_;
  i64 begin_, end_;
  std::vector<part> parts_; // in order; no two are children of one node

  static constexpr std::size_t bytes_of_states() {
    return []<class... Leaves>(pack<Leaves...> const*) {
      return (std::size_t{0} + ... + sizeof(typename Leaves::state));
    }(static_cast<decltype(Program::leaves) const*>(nullptr));
  }
  std::string covered() const { return "[" + std::to_string(begin_) + ", " + std::to_string(end_) + ")"; }
  template <class Whole>
  Whole at(Whole const& p, i64 e, i64 n) const {
    Whole q = p.part(e, n);
    q.first = begin_ + e;
    return q;
  }
  /// Adds a node and joins it with its left sibling as long as that is there.
  void push(part p) {
    while (!parts_.empty() && (any_order || (p.at.level == parts_.back().at.level && (p.at.index & 1) != 0 &&
                                             p.at.index == parts_.back().at.index + 1))) {
      p.value = bound_.program.combine(parts_.back().value, p.value);
      p.at = any_order ? p.at : partials::node{p.at.index >> 1, p.at.level + 1};
      parts_.pop_back();
    }
    parts_.push_back(p);
  }
  states root() const {
    if (parts_.empty())
      return bound_.program.identity();
    return root_of({0, 62}, parts_.data(), parts_.data() + parts_.size());
  }
  /// The canonical tree below a node, restricted to the parts [p, end) that are there.
  states root_of(partials::node n, part const* p, part const* end) const {
    if (end - p == 1)
      return p->value;
    partials::node const left{2 * n.index, n.level - 1}, right{2 * n.index + 1, n.level - 1};
    auto const* mid = p;
    while (mid != end && mid->at.first_leaf() < right.first_leaf())
      ++mid;
    if (mid == p || mid == end)
      return root_of(mid == p ? right : left, p, end);
    return bound_.program.combine(root_of(left, p, mid), root_of(right, mid, end));
  }
};

namespace detail {
template <class R, class... Columns, class... Leaves, class Nodes, class Pipe, class... Folds>
auto no_partial(bound_reduction<program<pack<Columns...>, Leaves...>, Nodes> const& b, reduced<Pipe, Folds...> const& r,
                i64 begin) {
  using Program = program<pack<Columns...>, Leaves...>;
  using Bare = program<pack<>, Leaves...>; // what is folded, without what is read
  return partial_states<row<typename Columns::value_type...>, tally::v0::shape_of<Program>, Bare, Nodes, Folds...>(
      Bare{{}, 0, 0, b.program.leaves}, b.nodes, r.folds, begin);
}
template <class... Options>
constexpr i64 position_in([[maybe_unused]] Options... options) {
  i64 element = 0;
  [[maybe_unused]] auto const take = [&](auto o) {
    if constexpr (std::same_as<decltype(o), part_position>)
      element = o.element;
  };
  (take(options), ...);
  return element;
}

/// Why a call of partial is refused, as a verdict: what run says to the options that are no position.
template <class R, class Kept, class... Options>
struct verdict_on_partial;
template <class R, class... Kept>
struct verdict_on_partial<R, pack<Kept...>> {
  using type = decltype(judge_call<R, Kept...>());
};
template <class R, class... Kept, class Option, class... More>
struct verdict_on_partial<R, pack<Kept...>, Option, More...>
    : std::conditional_t<std::same_as<Option, part_position>, verdict_on_partial<R, pack<Kept...>, More...>,
                         verdict_on_partial<R, pack<Kept..., Option>, More...>> {};
template <class R, class... Options>
using judged_partial = typename verdict_on_partial<R, pack<>, Options...>::type;
} // namespace detail

/// How many elements of this reduction make a leaf of its tree: a part begins at a multiple of it (1 where every fold is
/// free of order, as all are under exact). Never above 2048, always a power of two.
template <finished R, class... Options>
constexpr i64 part_granularity(R const& r, Options...) {
  using Bound = decltype(detail::bind_for<Options...>(r));
  using Program = decltype(Bound::program);
  return detail::all_order_free(static_cast<decltype(Program::leaves) const*>(nullptr)) ? 1 : shape_of<Program>.elements();
}

/// Folds a part of a whole and stops before the answers. Options: starting_at(position) (default 0), a place, a contract.
/// Throws what run throws except empty_input, and misaligned_partial when the position is no multiple of
/// part_granularity(reduction).
template <class R, class... Options>
  requires std::same_as<detail::judged_partial<R, Options...>, allowed>
auto partial(R const& r, Options... options) {
  auto const b = bind_checked<Options...>(r);
  i64 const begin = detail::position_in(options...);
  if (begin < 0 || b.program.extent > stl::numeric_limits<i64>::max() - begin)
    throw too_large("a part of " + std::to_string(b.program.extent) + " elements at " + std::to_string(begin) +
                    " leaves the range of positions.");
  if (b.program.extent > 0 && begin % part_granularity(r, options...) != 0)
    throw misaligned_partial("a part begins at " + std::to_string(begin) + ", which is no multiple of " +
                             std::to_string(part_granularity(r, options...)) + ".");
  auto p = detail::no_partial<R>(b, r, begin);
  p.fold(b.program, detail::place_in(options...), detail::contract_in(options...));
  return p;
}
/// What run refuses is refused, and the type says why.
template <class R, class... Options>
  requires(!std::same_as<detail::judged_partial<R, Options...>, allowed>)
auto partial(R const&, Options const&...) -> typename detail::judged_partial<R, Options...>::type {
  return {};
}

/// The partial of two neighbouring parts, given in either order. Throws misaligned_partial when they are no neighbours,
/// when the left one ends inside a leaf, or when they captured different values.
template <class Row, leaf_shape Shape, class Program, class Nodes, class... Folds>
auto merge(partial_states<Row, Shape, Program, Nodes, Folds...> const& a,
           partial_states<Row, Shape, Program, Nodes, Folds...> const& b) {
  bool const a_first = a.end_element() == b.begin_element() || b.end_element() != a.begin_element();
  auto p = a_first ? a : b;
  p.append(a_first ? b : a);
  return p;
}

/// The answers over the elements a partial covers: those of run over the same elements, bit for bit, when it begins at 0.
/// Throws empty_input and overflow.
template <class Row, leaf_shape Shape, class Program, class Nodes, class... Folds>
auto finish(partial_states<Row, Shape, Program, Nodes, Folds...> const& p) {
  return p.answers();
}

/// A partial as bytes, to be read by from_bytes of the same reduction in any process.
template <class Row, leaf_shape Shape, class Program, class Nodes, class... Folds>
std::vector<std::byte> to_bytes(partial_states<Row, Shape, Program, Nodes, Folds...> const& p) {
  return partials::encode(p.contents());
}

/// The partial in bytes that to_bytes gave; the reduction, with the contract where that was exact, says what was folded and makes
/// the answers, its columns are not read. Throws bad_bytes.
template <finished R, class... Options>
  requires(true && ... && detail::contract_option<Options>)
auto from_bytes(R const& r, std::span<std::byte const> bytes, Options...) {
  auto p = detail::no_partial<R>(detail::bind_for<Options...>(r), r, 0);
  p.read(partials::decode(bytes, p.form()));
  return p;
}

// A refused partial was reported where it was made.
template <class A, class B>
  requires(refused<A> || refused<B>)
ill_formed merge(A const&, B const&) {
  return {};
}
template <refused P>
ill_formed finish(P const&) {
  return {};
}
template <refused P>
ill_formed to_bytes(P const&) {
  return {};
}
template <class R>
  requires(!finished<R>)
auto from_bytes(R const&, std::span<std::byte const>) -> typename decltype(detail::judge_call<R>())::type {
  return {};
}

} // namespace tally::v0
