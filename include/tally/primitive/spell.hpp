// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A form as PTX writes it: the mnemonic, words in the order of the PTX ISA. Layer 2.
#pragma once

#include <tally/primitive/form.hpp>

namespace tally::v0::primitive {

TALLY_HD constexpr char const* spell(family f) {
  constexpr char const* words[]{"cp.async.bulk", "cp.async.bulk.prefetch.L2", "cp.reduce.async.bulk", "red.async",
                                "red"};
  return words[int(f)];
}
TALLY_HD constexpr char const* spell(operation o) {
  constexpr char const* words[]{"", ".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor"};
  return words[int(o)];
}
TALLY_HD constexpr char const* spell(element_type t) {
  constexpr char const* words[]{"",     ".b32",   ".b64",  ".u32",    ".u64", ".s32", ".s64",
                                ".f16", ".f16x2", ".bf16", ".bf16x2", ".f32", ".f64"};
  return words[int(t)];
}
TALLY_HD constexpr char const* spell(space s) {
  constexpr char const* words[]{"", ".global", ".shared", ".shared::cta", ".shared::cluster"};
  return words[int(s)];
}
TALLY_HD constexpr char const* spell(semantics s) {
  constexpr char const* words[]{"", ".relaxed", ".release"};
  return words[int(s)];
}
TALLY_HD constexpr char const* spell(scope s) {
  constexpr char const* words[]{"", ".cta", ".cluster", ".gpu", ".sys"};
  return words[int(s)];
}
TALLY_HD constexpr char const* spell(completion c) {
  constexpr char const* words[]{"", ".mbarrier::complete_tx::bytes", ".bulk_group"};
  return words[int(c)];
}

/// A short text that constant expressions can build; `c_str` ends with a zero.
struct form_text {
  char letters[120]{};
  int size = 0;
  TALLY_HD constexpr char const* c_str() const { return letters; }
  TALLY_HD constexpr form_text& operator+=(char const* word) {
    while (*word != 0 && size < 119) letters[size++] = *word++;
    return *this;
  }
  TALLY_HD friend constexpr bool operator==(form_text const& a, char const* b) {
    int i = 0;
    while (i < a.size && a.letters[i] == b[i]) ++i;
    return i == a.size && b[i] == 0;
  }
};

/// The mnemonic of a form, legal or not: "red.relaxed.gpu.global.add.noftz.v4.bf16x2".
TALLY_HD constexpr form_text spell(form const& f) {
  form_text text;
  text += spell(f.instruction);
  if (f.mmio) text += ".mmio";
  text += spell(f.order);
  text += spell(f.scope);
  text += spell(f.destination);
  text += spell(f.source);
  text += spell(f.completion);
  if (f.multicast) text += ".multicast::cluster";
  bool const hint_first = f.instruction != family::red; // the PTX ISA puts the hint of red behind the operation
  if (f.cache_hint && hint_first) text += ".L2::cache_hint";
  if (f.byte_mask) text += ".cp_mask";
  text += spell(f.op);
  if (f.noftz) text += ".noftz";
  if (f.cache_hint && !hint_first) text += ".L2::cache_hint";
  if (f.width > 1) {
    char const word[]{'.', 'v', char('0' + f.width), 0};
    text += word;
  }
  text += spell(f.type);
  return text;
}

static_assert(spell(form{.op = operation::add,
                         .type = element_type::bf16x2,
                         .destination = space::global,
                         .order = semantics::relaxed,
                         .scope = scope::gpu,
                         .width = 4,
                         .noftz = true}) == "red.relaxed.gpu.global.add.noftz.v4.bf16x2");

} // namespace tally::v0::primitive
