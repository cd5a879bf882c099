// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading records and plans that may lack a field: a missing or mistyped one is empty text, zero, or an empty list, so
// that a page is drawn from whatever is there. Gallery, no part of the library.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace gallery {

using nlohmann::json;

/// The text under `key`; numbers and truth values as they are spelled in JSON.
inline std::string text_at(json const& object, char const* key) {
  if (!object.is_object() || !object.contains(key)) return {};
  auto const& value = object[key];
  if (value.is_string()) return value.get<std::string>();
  return value.is_primitive() && !value.is_null() ? value.dump() : std::string{};
}

/// The number under `key`.
inline double number_at(json const& object, char const* key) {
  return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0.0;
}

/// The list or object under `key`.
inline json const& part_at(json const& object, char const* key) {
  static json const empty = json::array();
  return object.is_object() && object.contains(key) && object[key].is_structured() ? object[key] : empty;
}

} // namespace gallery
