// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every form that can be spelled, legal or not, and the line of PTX that tries it. Test layer.
//
// A family has its own words, which its manual page names: they are combined in every way. Every other word is foreign:
// it is added, one at a time, to every form that is legal.
#pragma once

#include <tally/primitive/legal.hpp>
#include <tally/primitive/spell.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace legality {

using namespace tally::v0::primitive;

/// The words of a form, as axes that can be walked.
enum axis {
  op,
  type,
  destination,
  source,
  order,
  who,
  end,
  width,
  multicast,
  cache_hint,
  byte_mask,
  noftz,
  mmio,
  axes
};

inline constexpr int sizes[axes]{9, 13, 5, 5, 3, 5, 3, 4, 2, 2, 2, 2, 2};

/// A form as one number an axis.
struct coordinates {
  family instruction;
  int at[axes]{};
};

inline form at(coordinates const& c) {
  int const widths[]{1, 2, 4, 8};
  return {.instruction = c.instruction,
          .op = operation(c.at[op]),
          .type = element_type(c.at[type]),
          .destination = space(c.at[destination]),
          .source = space(c.at[source]),
          .order = semantics(c.at[order]),
          .scope = scope(c.at[who]),
          .completion = completion(c.at[end]),
          .width = static_cast<unsigned char>(widths[c.at[width]]),
          .multicast = c.at[multicast] != 0,
          .cache_hint = c.at[cache_hint] != 0,
          .byte_mask = c.at[byte_mask] != 0,
          .noftz = c.at[noftz] != 0,
          .mmio = c.at[mmio] != 0};
}

/// The words a family's manual page names.
inline std::vector<axis> own_words(family f) {
  switch (f) {
  case family::copy_bulk: return {destination, source, end, multicast, cache_hint, byte_mask, order, who};
  case family::prefetch_bulk: return {destination, source, end, cache_hint};
  case family::reduce_bulk: return {op, type, destination, source, end, cache_hint, noftz};
  case family::red_async: return {op, type, destination, order, who, end, mmio};
  case family::red: return {op, type, destination, order, who, width, cache_hint, noftz};
  }
  return {};
}

/// Whether the words could be those of another form: one space alone is written the same for both ends.
inline bool reads_as_another(form const& f) {
  bool const takes_one = f.instruction == family::red || f.instruction == family::red_async;
  return (takes_one && f.destination == space::generic && f.source != space::generic) ||
         (f.instruction == family::prefetch_bulk && f.source == space::generic && f.destination != space::generic);
}

/// Every combination of a family's own words, and every legal one with one foreign word.
inline std::vector<form> every_form(family f) {
  std::vector<form> forms;
  auto const keep = [&](form const& one) {
    if (!reads_as_another(one)) forms.push_back(one);
  };
  std::vector<axis> const own = own_words(f);
  coordinates c{f};
  bool more = true;
  while (more) {
    keep(at(c));
    if (legal(at(c), sm_100a))
      for (int foreign = 0; foreign < axes; ++foreign) {
        if (std::count(own.begin(), own.end(), foreign) != 0) continue;
        coordinates with = c;
        for (with.at[foreign] = 1; with.at[foreign] < sizes[foreign]; ++with.at[foreign]) keep(at(with));
      }
    more = false;
    for (axis a : own) {
      more = ++c.at[a] < sizes[a];
      if (more) break;
      c.at[a] = 0;
    }
  }
  return forms;
}

/// The register that carries one element.
inline char const* register_for(element_type t) {
  switch (t) {
  case element_type::b64:
  case element_type::u64:
  case element_type::s64: return "%rd5";
  case element_type::f16:
  case element_type::bf16: return "%h3";
  case element_type::f32: return "%f1";
  case element_type::f64: return "%fd1";
  default: return "%r2";
  }
}

/// One line of PTX: the mnemonic with the operands that its words ask for.
inline std::string line(form const& f) {
  std::string text = spell(f).c_str();
  if (f.instruction == family::red || f.instruction == family::red_async) {
    std::string value = register_for(f.type);
    for (int i = 1; i < f.width; ++i) value += std::string(",") + register_for(f.type);
    text += f.width > 1 ? " [%rd1],{" + value + "}" : " [%rd1]," + value;
  } else {
    text += f.instruction == family::prefetch_bulk ? " [%rd2],%r1" : " [%rd1],[%rd2],%r1";
  }
  if (f.completion == completion::mbarrier) text += ",[%rd3]";
  if (f.multicast) text += ",%h1";
  if (f.cache_hint) text += ",%rd4";
  if (f.byte_mask) text += ",%h2";
  return text + ";";
}

} // namespace legality
