// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instruction forms exist, and from which chip on: one table of the PTX ISA's rules, as data. Layer 2.
// A row of the table says where a family may act (places) and which operation takes which type there (elements); the
// table of words says which chip brought a word. tests/legality asks ptxas about every form in both directions; where
// ptxas takes more than the PTX ISA gives a meaning to, `accepted_without_meaning` says so, row by row.
#pragma once

#include <tally/primitive/form.hpp>

namespace tally::v0::primitive {

namespace detail {

/// Some of the enumerators of one enumeration, or some numbers below 16.
using set = unsigned short;
template <class... Es>
TALLY_HD constexpr set some(Es... es) {
  return set((0u | ... | (1u << unsigned(es))));
}
template <class E>
TALLY_HD constexpr bool holds(set s, E e) {
  return (s >> unsigned(e) & 1u) != 0;
}

/// The optional words, as bits.
enum qualifier : unsigned char { multicast = 1, cache_hint = 2, byte_mask = 4, noftz = 8, mmio = 16 };

TALLY_HD constexpr unsigned qualifiers_of(form const& f) {
  return (f.multicast ? unsigned(multicast) : 0u) | (f.cache_hint ? unsigned(cache_hint) : 0u) |
         (f.byte_mask ? unsigned(byte_mask) : 0u) | (f.noftz ? unsigned(noftz) : 0u) | (f.mmio ? unsigned(mmio) : 0u);
}

/// Where an instruction may act and how its end is announced.
struct places {
  set destinations = 0, sources = 0, orders = 0, scopes = 0, completions = 0;
  unsigned char may = 0;  ///< qualifiers that may be written
  unsigned char must = 0; ///< qualifiers that must be written
};

/// Which operations take which types, in vectors of which widths; `noftz` is written exactly where it stands here.
struct elements {
  set operations = 0, types = 0, widths = 0;
  bool noftz = false;
};

/// One rule: this family, there, on those.
struct rule {
  family instruction = family::red;
  short since = 0; ///< the first architecture
  places where{};
  elements what{};

  TALLY_HD constexpr bool covers(form const& f) const {
    unsigned const written = qualifiers_of(f) & ~unsigned(noftz);
    return f.instruction == instruction && holds(where.destinations, f.destination) && holds(where.sources, f.source) &&
           holds(where.orders, f.order) && holds(where.scopes, f.scope) && holds(where.completions, f.completion) &&
           (written & ~unsigned(where.may | where.must)) == 0 && (where.must & ~written) == 0 &&
           holds(what.operations, f.op) && holds(what.types, f.type) && holds(what.widths, f.width) &&
           what.noftz == f.noftz;
  }
};

inline constexpr set unwritten = some(0), scalar = some(1);
inline constexpr set any_order = some(semantics::unstated, semantics::relaxed, semantics::release);
inline constexpr set any_scope = some(scope::unstated, scope::cta, scope::cluster, scope::gpu, scope::sys);
inline constexpr set by_mbarrier = some(completion::mbarrier), by_group = some(completion::bulk_group);

// Where.
inline constexpr places into_own_block{
    some(space::shared_cta), some(space::global), unwritten, unwritten, by_mbarrier, cache_hint};
inline constexpr places into_cluster{
    some(space::shared_cluster), some(space::global), unwritten, unwritten, by_mbarrier, multicast | cache_hint};
inline constexpr places between_blocks{some(space::shared_cluster), some(space::shared_cta), unwritten, unwritten,
                                       by_mbarrier};
inline constexpr places to_global{some(space::global), some(space::shared_cta), unwritten, unwritten, by_group,
                                  cache_hint};
inline constexpr places to_global_masked{
    some(space::global), some(space::shared_cta), unwritten, unwritten, by_group, cache_hint, byte_mask};
inline constexpr places from_global{
    some(space::generic), some(space::global), unwritten, unwritten, unwritten, cache_hint};
inline constexpr places in_memory{
    some(space::generic, space::global), unwritten, any_order, any_scope, unwritten, cache_hint};
inline constexpr places in_shared{some(space::shared, space::shared_cta, space::shared_cluster), unwritten, any_order,
                                  any_scope, unwritten};
inline constexpr places in_another_block{some(space::generic, space::shared_cluster), unwritten,
                                         some(semantics::relaxed), some(scope::cluster), by_mbarrier};
inline constexpr places published{some(space::generic, space::global), unwritten, some(semantics::release),
                                  some(scope::gpu, scope::sys), unwritten};
inline constexpr places published_to_a_device{
    some(space::generic, space::global), unwritten, some(semantics::release), some(scope::sys), unwritten, 0, mmio};

// What.
using enum element_type;
inline constexpr set bits = some(operation::bit_and, operation::bit_or, operation::bit_xor);
inline constexpr set least_most = some(operation::min, operation::max), wrapping = some(operation::inc, operation::dec);
inline constexpr set add = some(operation::add), add_least_most = add | least_most;

inline constexpr elements bytes{unwritten, unwritten, scalar};
inline constexpr elements bits_of_words{bits, some(b32), scalar};
inline constexpr elements bits_of_any{bits, some(b32, b64), scalar};
inline constexpr elements counters{wrapping, some(u32), scalar};
inline constexpr elements ordered_words{least_most, some(u32, s32), scalar};
inline constexpr elements ordered_integers{least_most, some(u32, s32, u64, s64), scalar};
inline constexpr elements ordered_halves{least_most, some(f16, bf16), scalar};
inline constexpr elements added_integers{add, some(u32, s32, u64), scalar};
inline constexpr elements added_any_integers{add, some(u32, s32, u64, s64), scalar};
inline constexpr elements added_floats{add, some(f32, f64), scalar};
inline constexpr elements added_halves{add, some(f16, bf16), scalar, true};
inline constexpr elements added_halves_and_pairs{add, some(f16, f16x2, bf16, bf16x2), scalar, true};
inline constexpr elements vectors_of_floats{add, some(f32), some(2, 4)};
inline constexpr elements vectors_of_halves{add_least_most, some(f16, bf16), some(2, 4, 8), true};
inline constexpr elements vectors_of_pairs{add_least_most, some(f16x2, bf16x2), some(2, 4), true};

} // namespace detail

/// The rules, by value, so that a test may break one: see `legal`.
struct rules {
  detail::rule rows[40]{};
  int count = 0;
  template <class... Elements>
  TALLY_HD constexpr void add(family f, short since, detail::places where, Elements... what) {
    ((rows[count++] = detail::rule{f, since, where, what}), ...);
  }
  /// The first architecture with this form by these rules, or 0: words are looked at by `legal`.
  TALLY_HD constexpr short since(form const& f) const {
    for (int i = 0; i < count; ++i)
      if (rows[i].covers(f)) return rows[i].since;
    return 0;
  }
};

namespace detail {
TALLY_HD constexpr rules defined_by_the_manual() {
  rules r;
  r.add(family::copy_bulk, 90, into_own_block, bytes);
  r.add(family::copy_bulk, 90, into_cluster, bytes);
  r.add(family::copy_bulk, 90, between_blocks, bytes);
  r.add(family::copy_bulk, 90, to_global, bytes);
  r.add(family::copy_bulk, 100, to_global_masked, bytes);
  r.add(family::prefetch_bulk, 90, from_global, bytes);
  r.add(family::reduce_bulk, 90, to_global, added_integers, added_floats, added_halves, ordered_integers,
        ordered_halves, counters, bits_of_any);
  r.add(family::reduce_bulk, 90, between_blocks, added_integers, ordered_words, counters, bits_of_words);
  r.add(family::red_async, 90, in_another_block, added_integers, ordered_words, counters, bits_of_words);
  r.add(family::red_async, 100, published, added_any_integers);
  r.add(family::red_async, 100, published_to_a_device, added_any_integers);
  constexpr places anywhere[]{in_memory, in_shared};
  for (places const& where : anywhere)
    r.add(family::red, 80, where, added_integers, added_floats, added_halves_and_pairs, ordered_integers, counters,
          bits_of_any);
  r.add(family::red, 90, in_memory, vectors_of_floats, vectors_of_halves, vectors_of_pairs);
  return r;
}

TALLY_HD constexpr rules undefined_by_the_manual() {
  rules r;
  constexpr places directions[]{into_own_block, into_cluster, between_blocks, to_global, to_global_masked};
  for (places where : directions) {
    short const since = where.must == byte_mask ? 100 : 90;
    where.scopes = some(scope::cta, scope::cluster, scope::gpu, scope::sys);
    r.add(family::copy_bulk, since, where, bytes);
  }
  constexpr elements added_s64{detail::add, some(s64), scalar};
  r.add(family::red_async, 90, in_another_block, added_s64);
  places relaxed = published;
  relaxed.orders = some(semantics::relaxed);
  relaxed.destinations = some(space::generic);
  r.add(family::red_async, 90, relaxed, added_any_integers, ordered_words, counters, bits_of_words);
  relaxed.destinations = some(space::global);
  r.add(family::red_async, 100, relaxed, added_any_integers, ordered_words, counters, bits_of_words);
  r.add(family::red_async, 100, published, ordered_words, counters, bits_of_words);
  r.add(family::red_async, 100, published_to_a_device, ordered_words, counters, bits_of_words);
  places of_a_chip = published_to_a_device;
  of_a_chip.scopes = some(scope::gpu);
  r.add(family::red_async, 100, of_a_chip, added_any_integers, ordered_words, counters, bits_of_words);
  return r;
}
} // namespace detail

/// What the PTX ISA defines and ptxas 13.0 assembles. One difference is decided for ptxas: the syntax of red.async
/// names .release.cluster, its conditions .release.sys; ptxas takes .gpu and .sys.
inline constexpr rules ptx_rules = detail::defined_by_the_manual();

/// What ptxas 13.0 assembles although the PTX ISA gives it no meaning; never used, and kept so that tests/legality
/// explains every difference. Scopes on copies; red.async to another block of s64, relaxed beyond the cluster, released
/// with other operations than add, and .mmio of a chip only.
inline constexpr rules accepted_without_meaning = detail::undefined_by_the_manual();

/// The architecture that brought the newest word of a form, by what several rules share; 80 is the oldest one that this
/// library knows.
TALLY_HD constexpr short since_words(form const& f) {
  bool const of_clusters = f.destination == space::shared_cluster || f.source == space::shared_cluster ||
                           f.scope == scope::cluster || f.multicast;
  bool const of_bf16 = f.type == element_type::bf16 || f.type == element_type::bf16x2;
  return of_clusters || of_bf16 || f.width > 1 ? short(90) : short(80);
}

/// The first architecture that has a form by some rules, or 0 where none has.
TALLY_HD constexpr short since(form const& f, rules const& r = ptx_rules) {
  short const rule = r.since(f), words = since_words(f);
  return rule == 0 ? rule : rule > words ? rule : words;
}

/// Whether an architecture has a form.
TALLY_HD constexpr bool legal(form const& f, architecture on, rules const& r = ptx_rules) {
  short const first = since(f, r);
  return first != 0 && on.number >= first;
}

/// Whether a block of a cluster may be fed by multicast at full speed: elsewhere ptxas advises against the word.
TALLY_HD constexpr bool multicast_is_quick(architecture on) {
  return on.features != ' ' && (on.number == 90 || (on.number >= 100 && on.number < 120));
}

} // namespace tally::v0::primitive
