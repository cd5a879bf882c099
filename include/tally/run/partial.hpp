// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verbs partial, merge and finish: a reduction in parts, on other days and other machines, with the bits of one run.
// Layer 5. A partial keeps the states of whole subtrees of the canonical tree, so merging neighbours completes the same
// tree that run() builds.
#pragma once

#include <tally/run/partial_bytes.hpp>
#include <tally/run/run.hpp>

namespace tally::inline v0 {

/// The place of a part in the whole; made by starting_at().
struct part_position {
  i64 element;
};
/// Says that the first element of the source is element `element` of the whole.
constexpr part_position starting_at(i64 element) { return {element}; }

namespace detail {

template <class T>
concept partial_option = run_option<T> || std::same_as<T, part_position>;

template <class... Leaves>
constexpr bool all_order_free(pack<Leaves...> const*) {
  return (true && ... && Leaves::monoid_type::law.order_free);
}

/// The bytes of the run-time values inside expressions and monoids; host callables keep theirs to themselves.
struct captured_values {
  std::string bytes;
  template <class T>
  void add(T const& value) {
    bytes.append(reinterpret_cast<char const*>(&value), sizeof value);
  }
  template <class T>
  void expression(literal<T> const& e) {
    add(e.value);
  }
  template <class Op, class... Args>
  void expression(call<Op, Args...> const& e) {
    unpack([&](auto const&... a) { (expression(a), ...); }, e.args);
  }
  template <class E>
  void expression(E const&) {}
  template <class M>
  void monoid(M const& m) {
    if constexpr (requires { m.modulus; })
      add(m.modulus);
    else if constexpr (requires { m.inner; })
      monoid(m.inner);
    else if constexpr (requires { m.start; })
      if constexpr (std::has_unique_object_representations_v<decltype(m.start)> || floating<decltype(m.start)>)
        add(m.start);
  }
};

/// The text of the user's functions in a type: a changed body is another reduction.
template <class T>
struct bodies_in {
  static void append(std::string& out) {
    if constexpr (requires { T::device_body; })
      out += std::string(T::device_parameters) + T::device_body;
  }
};
template <template <class...> class C, class... Ts>
struct bodies_in<C<Ts...>> {
  static void append(std::string& out) { (bodies_in<Ts>::append(out), ...); }
};

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
      : bound_{program, nodes}, folds_{folds}, begin_(begin), end_(begin) {
    detail::captured_values captured;
    unpack([&](auto const&... leaf) { (collect(captured, leaf), ...); }, program.leaves);
    detail::bodies_in<Program>::append(captured.bytes);
    kind_ = partials::kind_of(name_of<pack<Row, Program>>(), captured.bytes);
  }

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
    if (kind_ != right.kind_)
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
        auto const* const from = reinterpret_cast<std::byte const*>(&get<i>(p.value));
        c.states.insert(c.states.end(), from, from + sizeof(get<i>(p.value)));
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
  u64 kind_ = 0;
  i64 begin_, end_;
  std::vector<part> parts_; // in order; no two are children of one node

  template <class Leaf>
  static void collect(detail::captured_values& captured, Leaf const& leaf) {
    captured.monoid(leaf.monoid);
    unpack([&](auto const&... v) { (captured.expression(v), ...); }, leaf.values);
    captured.expression(leaf.mask);
  }
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
  return partial_states<row<typename Columns::value_type...>, tally::shape_of<Program>, Bare, Nodes, Folds...>(
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
} // namespace detail

/// How many elements of this reduction make a leaf of its tree: a part begins at a multiple of it (1 where every fold is
/// free of order). Never above 2048, always a power of two.
template <class R>
constexpr i64 part_granularity(R const& r) {
  using Bound = decltype(tally::bind(r));
  using Program = decltype(Bound::program);
  return detail::all_order_free(static_cast<decltype(Program::leaves) const*>(nullptr)) ? 1 : shape_of<Program>.elements();
}

/// Folds a part of a whole and stops before the answers. Options: starting_at(position) (default 0), a place, a contract.
/// Throws what run throws except empty_input, and misaligned_partial when the position is no multiple of
/// part_granularity(reduction).
template <class R, detail::partial_option... Options>
auto partial(R const& r, Options... options) {
  auto const where = detail::place_in(options...);
  using Place = std::remove_cvref_t<decltype(where)>;
  if constexpr (std::same_as<R, ill_formed>) {
    return ill_formed{};
  } else {
    using Reason = typename decltype(detail::judge_run<R, Place>())::type;
    if constexpr (!std::same_as<Reason, because::fine>) {
      return (void)sizeof(Reason), ill_formed{};
    } else {
      check_source(r.pipe.source);
      auto const b = tally::bind(r);
      i64 const begin = detail::position_in(options...);
      if (begin < 0 || b.program.extent > cuda::std::numeric_limits<i64>::max() - begin)
        throw too_large("a part of " + std::to_string(b.program.extent) + " elements at " + std::to_string(begin) +
                        " leaves the range of positions.");
      if (b.program.extent > 0 && begin % part_granularity(r) != 0)
        throw misaligned_partial("a part begins at " + std::to_string(begin) + ", which is no multiple of " +
                                 std::to_string(part_granularity(r)) + ".");
      auto p = detail::no_partial<R>(b, r, begin);
      p.fold(b.program, where, detail::contract_in(options...));
      return p;
    }
  }
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

/// The partial in bytes that to_bytes gave; the reduction says what was folded, its columns are not read. Throws bad_bytes.
template <class R>
auto from_bytes(R const& r, std::span<std::byte const> bytes) {
  auto p = detail::no_partial<R>(tally::bind(r), r, 0);
  p.read(partials::decode(bytes, p.form()));
  return p;
}

} // namespace tally::inline v0
