// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms that a program would write, and for each the statement with a typed verb that writes it. Test layer.
#pragma once

#include "legality/every_form.hpp"

#include <tally/primitive/legal.hpp>
#include <tally/primitive/spell.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace verb_of {

using namespace tally::v0::primitive;

/// Legal forms whose words are all written. What is left out is the same instruction with a default: no order is relaxed,
/// no scope is gpu, .shared is .shared::cta, red.async finds its space in a generic address, and what adds s64 adds u64.
inline std::vector<form> written_forms() {
  std::vector<form> forms;
  for (family f : {family::copy_bulk, family::prefetch_bulk, family::reduce_bulk, family::red_async, family::red})
    for (form const& one : legality::every_form(f)) {
      if (!legal(one, sm_100a) || one.destination == space::shared) continue;
      bool const has_order = f == family::red || f == family::red_async;
      if (has_order && (one.order == semantics::unstated || one.scope == scope::unstated)) continue;
      if (f == family::red_async && one.destination == space::generic) continue;
      if (one.op == operation::add && one.type == element_type::s64) continue;
      forms.push_back(one);
    }
  return forms;
}

/// The C++ type that stands for an element type.
inline std::string device_type(element_type t) {
  char const* const names[]{"",    "u32",      "u64",  "u32",       "u64",   "i32",   "i64",
                            "f16", "two<f16>", "bf16", "two<bf16>", "float", "double"};
  return names[int(t)];
}
inline std::string device_name(operation op) {
  char const* const names[]{"none", "add", "min", "max", "inc", "dec", "bit_and", "bit_or", "bit_xor"};
  return std::string("operation::") + names[int(op)];
}
inline std::string device_name(scope s) { return std::string("scope::") + (spell(s) + 1); }
inline std::string device_name(semantics s) { return std::string("semantics::") + (spell(s) + 1); }

/// A place of T: a variable of the kernel that body_of() declares.
inline std::string place(space s, std::string const& type, bool source = false) {
  std::string const t = source ? type + " const*" : type + "*";
  switch (s) {
  case space::global: return "in_global(reinterpret_cast<" + t + ">(data))";
  case space::shared:
  case space::shared_cta: return "in_shared(reinterpret_cast<" + t + ">(room.elements))";
  case space::shared_cluster: return "in_cluster(reinterpret_cast<" + t + ">(room.elements), 1u)";
  case space::generic: return "anywhere(reinterpret_cast<" + t + ">(data))";
  }
  return {};
}

/// The statement that writes a form, empty where no verb does.
inline std::string statement(form const& f) {
  std::string const hint = f.cache_hint ? ", policy" : "", type = device_type(f.type);
  bool const to_cluster = f.destination == space::shared_cluster;
  switch (f.instruction) {
  case family::copy_bulk:
    if (f.multicast)
      return "copy_to_blocks(u16(3), " + place(space::shared_cta, "u32") + ", " + place(f.source, "u32", true) +
             ", n, bar" + hint + ");";
    if (f.byte_mask)
      return "copy_masked(" + place(f.destination, "u32") + ", " + place(f.source, "u32", true) + ", n, u16(255)" +
             hint + ");";
    if (f.destination == space::shared_cta)
      return "{ auto told = bar.expect(n); copy(" + place(f.destination, "u32") + ", " + place(f.source, "u32", true) +
             ", n, told" + hint + "); }";
    return "copy(" + place(f.destination, "u32") + ", " + place(f.source, "u32", true) + ", n" +
           (to_cluster ? ", in_cluster(&bar, 1u)" : "") + hint + ");";
  case family::prefetch_bulk: return "prefetch(" + place(f.source, "u32", true) + ", n" + hint + ");";
  case family::reduce_bulk:
    return "reduce<" + device_name(f.op) + ">(" + place(f.destination, type) + ", " + place(f.source, type, true) +
           ", n" + (to_cluster ? ", in_cluster(&bar, 1u)" : "") + hint + ");";
  case family::red_async:
    if (f.order == semantics::release)
      return "red_async_release<" + device_name(f.op) + ", " + device_name(f.scope) + (f.mmio ? ", true" : ", false") +
             ">(" + place(f.destination, type) + ", " + type + "(value));";
    return "red_async<" + device_name(f.op) + ">(" + place(f.destination, type) + ", " + type +
           "(value), in_cluster(&bar, 1u));";
  case family::red: {
    bool const packed = f.type == element_type::f16x2 || f.type == element_type::bf16x2;
    std::string const one =
        packed || f.type == element_type::f16 || f.type == element_type::bf16 ? type + "{}" : type + "(value)";
    std::string const operand = f.width == 1 ? one : "lanes<" + type + ", " + std::to_string(f.width) + ">{}";
    std::string const of = f.width == 1 ? type : "lanes<" + type + ", " + std::to_string(f.width) + ">";
    return "red<" + device_name(f.op) + ", " + device_name(f.order) + ", " + device_name(f.scope) + ">(" +
           place(f.destination, of) + ", " + operand + hint + ");";
  }
  }
  return {};
}

/// A kernel of statements.
inline std::string unit(std::vector<std::string> const& statements) {
  std::string text = "#include <tally/primitive/bulk_reduce.cuh>\n"
                     "#include <tally/primitive/copy.cuh>\n"
                     "#include <tally/primitive/prefetch.cuh>\n"
                     "#include <tally/primitive/red.cuh>\n"
                     "#include <tally/primitive/red_async.cuh>\n"
                     "#include <tally/primitive/red_vector.cuh>\n"
                     "using namespace tally::v0;\n"
                     "using namespace tally::v0::primitive;\n"
                     "extern \"C\" __global__ void every_verb(void* data, int value) {\n"
                     "  __shared__ stage<u32, 128> room;\n"
                     "  __shared__ barrier bar;\n"
                     "  auto const n = bulk_bytes::of<512>();\n"
                     "  auto const policy = cache_policy::evict_last();\n";
  for (auto const& s : statements) text += "  " + s + "\n";
  return text + "}\n";
}

} // namespace verb_of
