// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device text of a program's own functions and structs: what must stand in a translation unit before the program's
// type can be named there. Layer 5. Found by walking the template arguments of the program, the states of its folds and
// the types of every part of its expressions.
#pragma once

#include <string>
#include <type_traits>

#include <tally/base/name_of.hpp>
#include <tally/fold/program.hpp>

namespace tally::v0 {

/// Definitions in namespaces, structs before functions, each once.
class definitions {
public:
  std::string structs, functions;
  /// Adds "<kind> <name> <body>" inside the namespaces of the qualified name, unless it is there already.
  void add(std::string& to, char const* kind, std::string const& qualified, std::string const& body);
  /// Throws compile_failed: an element is of a type whose text nobody gave.
  [[noreturn]] static void refuse(std::string const& qualified);
};

namespace detail {
template <class T>
concept has_struct_text = requires(T const* p) { tally_device_text(p); };

template <class T>
struct text_in {
  [[gnu::cold]] static void collect(definitions& d) {
    if constexpr (requires { T::device_body; })
      d.add(d.functions, "struct", name_of<T>(),
            std::string("{ static constexpr char const* spelling = \"\"; using device_text = void; __host__ __device__ "
                        "constexpr auto operator()") +
                T::device_parameters + " const " + T::device_body + " };");
    else if constexpr (has_struct_text<T>)
      d.add(d.structs, "struct", name_of<T>(), std::string(tally_device_text(static_cast<T const*>(nullptr))) + ";");
    else if constexpr (std::is_enum_v<T>)
      d.add(d.structs, std::is_convertible_v<T, std::underlying_type_t<T>> ? "enum" : "enum class", name_of<T>(), ": " + name_of<std::underlying_type_t<T>>() + ";");
  }
};
template <template <class...> class C, class... Ts>
struct text_in<C<Ts...>> {
  [[gnu::cold]] static void collect(definitions& d) { (text_in<Ts>::collect(d), ...); }
};

/// The values inside an expression: a struct may appear between two functions and nowhere else.
template <class Row, class E>
struct text_in_values {
  [[gnu::cold]] static void collect(definitions& d) {
    text_in<std::remove_cvref_t<decltype(std::declval<E const&>().eval(std::declval<Row const&>()))>>::collect(d);
  }
};
template <class Row, class Op, class... Args>
struct text_in_values<Row, call<Op, Args...>> {
  [[gnu::cold]] static void collect(definitions& d) {
    (text_in_values<Row, Args>::collect(d), ...);
    text_in<std::remove_cvref_t<decltype(std::declval<call<Op, Args...> const&>().eval(std::declval<Row const&>()))>>::collect(d);
  }
};
template <class Row, class Leaf>
struct text_in_leaf;
template <class Row, class M, class... Values, class Mask>
struct text_in_leaf<Row, bound<M, pack<Values...>, Mask>> {
  [[gnu::cold]] static void collect(definitions& d) {
    text_in<typename M::state>::collect(d);
    (text_in_values<Row, Values>::collect(d), ...);
    text_in_values<Row, Mask>::collect(d);
  }
};
/// A kernel can name numbers, enumerations, structs whose text is there, and the types of the library and of libcu++.
template <class T>
[[gnu::cold]] void refuse_unknown() {
  if constexpr (std::is_class_v<T> && !has_struct_text<T>)
    if (std::string const name = name_of<T>(); name.rfind("tally::", 0) != 0 && name.rfind("cuda::", 0) != 0)
      definitions::refuse(name);
}
template <class... Columns, class... Leaves>
struct text_in<program<pack<Columns...>, Leaves...>> {
  [[gnu::cold]] static void collect(definitions& d) {
    (text_in<Columns>::collect(d), ...);
    (text_in<Leaves>::collect(d), ...);
    (text_in_leaf<row<typename Columns::value_type...>, Leaves>::collect(d), ...);
    (refuse_unknown<typename Columns::value_type>(), ...);
  }
};
} // namespace detail

/// All definitions that the types of programs need, each once.
template <class... Programs>
[[gnu::cold]] std::string definitions_of() {
  definitions d;
  (detail::text_in<Programs>::collect(d), ...);
  return d.structs + d.functions;
}

} // namespace tally::v0
