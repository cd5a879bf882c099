// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixed inputs of tally::v0::math's golden hashes and the hashes themselves, for whoever computes the same
// functions elsewhere: another compiler, another processor, a pipeline on a GPU.
//
// A million inputs for each type, argument k of element i being golden::argument<T>(i, k). Two digests of the
// results: fnv1a, over the bytes in order, and weighted_sum, the sum of bits(result) * (2 i + 1) modulo 2^64, which
// a pipeline can compute in any order. NaNs count as the one quiet NaN. A digest never changes unless the function
// is meant to change.
#pragma once

#include <tally/element/math.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace golden {

inline constexpr std::uint64_t count = 1000000;

/// A counter's well mixed bits.
TALLY_HD constexpr std::uint64_t mixed(std::uint64_t counter) {
  std::uint64_t z = counter * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

TALLY_HD constexpr float any_bits(std::uint64_t r, float) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(r));
}
TALLY_HD constexpr double any_bits(std::uint64_t r, double) { return __builtin_bit_cast(double, r); }
/// In [-1, 1), without rounding.
TALLY_HD constexpr float fraction(std::uint64_t r, float) {
  return static_cast<float>(static_cast<std::int32_t>(r) >> 8) * 0x1p-23f;
}
TALLY_HD constexpr double fraction(std::uint64_t r, double) {
  return static_cast<double>(static_cast<std::int64_t>(r) >> 11) * 0x1p-52;
}

/// Argument `which` of element `index`: a quarter any bit pattern, a quarter each in [-1, 1), [-16, 16) and [-1024,
/// 1024) (float: [-128, 128)); the third argument of half the elements is -(first * second), where an inexact fma
/// would show.
template <class T>
TALLY_HD constexpr T argument(std::uint64_t index, std::uint64_t which) {
  if (which == 2 && (index & 8u) != 0) return -(argument<T>(index, 0) * argument<T>(index, 1));
  std::uint64_t const r = mixed(index * 4 + which + 1);
  T const x = fraction(r, T{});
  switch ((index >> (which == 0 ? 0 : 4)) & 3u) {
  case 0: return any_bits(r, T{});
  case 1: return x;
  case 2: return x * T(16);
  default: return x * T(sizeof(T) == sizeof(float) ? 128 : 1024);
  }
}

/// The bits of a result, every NaN the same.
TALLY_HD constexpr std::uint64_t result_bits(float x) {
  return x == x ? __builtin_bit_cast(std::uint32_t, x) : 0x7fc00000u;
}
TALLY_HD constexpr std::uint64_t result_bits(double x) {
  return x == x ? __builtin_bit_cast(std::uint64_t, x) : 0x7ff8000000000000u;
}

struct digest {
  std::uint64_t fnv1a;
  std::uint64_t weighted_sum;
  friend bool operator==(digest const&, digest const&) = default;
};

/// Takes the results in order.
struct digester {
  digest value{0xcbf29ce484222325u, 0};
  std::uint64_t index = 0;

  template <class T>
  void operator()(T result) {
    std::uint64_t const bits = result_bits(result);
    for (std::size_t byte = 0; byte < sizeof(T); ++byte)
      value.fnv1a = (value.fnv1a ^ ((bits >> (8 * byte)) & 0xffu)) * 0x100000001b3u;
    value.weighted_sum += bits * (2 * index++ + 1);
  }
};

/// Calls visit(name, function) for every function of tally::v0::math; each takes three arguments and uses the first
/// ones.
template <class Visitor>
void for_each_function(Visitor visit) {
  namespace math = tally::v0::math;
  visit("exp", [](auto x, auto, auto) { return math::exp(x); });
  visit("exp2", [](auto x, auto, auto) { return math::exp2(x); });
  visit("expm1", [](auto x, auto, auto) { return math::expm1(x); });
  visit("log", [](auto x, auto, auto) { return math::log(x); });
  visit("log2", [](auto x, auto, auto) { return math::log2(x); });
  visit("log10", [](auto x, auto, auto) { return math::log10(x); });
  visit("log1p", [](auto x, auto, auto) { return math::log1p(x); });
  visit("sinh", [](auto x, auto, auto) { return math::sinh(x); });
  visit("cosh", [](auto x, auto, auto) { return math::cosh(x); });
  visit("tanh", [](auto x, auto, auto) { return math::tanh(x); });
  visit("sigmoid", [](auto x, auto, auto) { return math::sigmoid(x); });
  visit("sin", [](auto x, auto, auto) { return math::sin(x); });
  visit("cos", [](auto x, auto, auto) { return math::cos(x); });
  visit("tan", [](auto x, auto, auto) { return math::tan(x); });
  visit("asin", [](auto x, auto, auto) { return math::asin(x); });
  visit("acos", [](auto x, auto, auto) { return math::acos(x); });
  visit("atan", [](auto x, auto, auto) { return math::atan(x); });
  visit("cbrt", [](auto x, auto, auto) { return math::cbrt(x); });
  visit("erf", [](auto x, auto, auto) { return math::erf(x); });
  visit("abs", [](auto x, auto, auto) { return math::abs(x); });
  visit("sqrt", [](auto x, auto, auto) { return math::sqrt(x); });
  visit("floor", [](auto x, auto, auto) { return math::floor(x); });
  visit("ceil", [](auto x, auto, auto) { return math::ceil(x); });
  visit("trunc", [](auto x, auto, auto) { return math::trunc(x); });
  visit("round", [](auto x, auto, auto) { return math::round(x); });
  visit("nearest", [](auto x, auto, auto) { return math::nearest(x); });
  visit("atan2", [](auto x, auto y, auto) { return math::atan2(x, y); });
  visit("pow", [](auto x, auto y, auto) { return math::pow(x, y); });
  visit("hypot", [](auto x, auto y, auto) { return math::hypot(x, y); });
  visit("fmod", [](auto x, auto y, auto) { return math::fmod(x, y); });
  visit("copysign", [](auto x, auto y, auto) { return math::copysign(x, y); });
  visit("fma", [](auto x, auto y, auto z) { return math::fma(x, y, z); });
}

struct expectation {
  std::string_view name;
  digest of_float;
  digest of_double;
};
inline constexpr expectation expected[] = {
    {"exp", {0x7f094e907f2ea05cu, 0xd66bd1d2ffbdeb82u}, {0x9aa101992d239288u, 0x6a445c8b483836f7u}},
    {"exp2", {0x06e96c1c86cfcbd0u, 0xd1ba4ee07791f656u}, {0x9a2b6e9aed7a53c9u, 0xb0261d2c69a3d405u}},
    {"expm1", {0x356f135a58707268u, 0x123216d52e63ebb5u}, {0x9cbd36f60128c297u, 0x5bbaffe870f6988cu}},
    {"log", {0x7e8cc560db967610u, 0x2877c25f0595a18bu}, {0x815e3131d8c46369u, 0x3635d5133dd06c2au}},
    {"log2", {0x809c368243fdc107u, 0x46f2016c50f2db43u}, {0xfd02ea8769d344fbu, 0x24ac4919511e6100u}},
    {"log10", {0x44f34b7e759b3a22u, 0xe2af0f4366f748ebu}, {0xae3b86708728ed23u, 0x162e08a14c88b3feu}},
    {"log1p", {0xebc07648009ac01cu, 0xe0e825e2de409dd1u}, {0x5e319e9f0bc6ede5u, 0x6166536617e41c20u}},
    {"sinh", {0xb708391286a655abu, 0xcf02083bb20ad4b5u}, {0x7a91d24aa3f996ecu, 0x13a6fc1065e7968fu}},
    {"cosh", {0x5b61c958f65a6d43u, 0x788222811b9d1844u}, {0xfa0994e13a38d28cu, 0x64dde5efebf20044u}},
    {"tanh", {0x914073c33c271a10u, 0x232f42e9ae788275u}, {0xc3d154017c9ef27du, 0xd85a85b0a10feb30u}},
    {"sigmoid", {0x4ffa28c1fb815bebu, 0xbb05636e07139f07u}, {0x62d310a10d16a0a6u, 0xb3940a5f2e63f163u}},
    {"sin", {0x085b9cacab5677a5u, 0xeccadff7d76a4354u}, {0x4268202102c5551fu, 0x48215f8fff576bffu}},
    {"cos", {0xe07f45153e11edd2u, 0xff1d3b9ba133dee9u}, {0x8e5df8d7017033a9u, 0x344913aec35ac80cu}},
    {"tan", {0x5a6fc8155b4f678cu, 0x2b68d4cb1f8c0a30u}, {0x05a60f1c5df1837du, 0x3692cc5c89761b29u}},
    {"asin", {0x79b1171e635b8078u, 0x55d56442ffd7d045u}, {0x6bb1c55756e08f65u, 0xeb8f4414c2dc7a8cu}},
    {"acos", {0x4d8349408533806fu, 0x62ab6175b3498bb3u}, {0x35f0d10f3ffb8271u, 0x70fac883ecc666a3u}},
    {"atan", {0x8ef3e68fbb0003c8u, 0x465054de43c30ae1u}, {0x131a4fcd123d6088u, 0x0670e36b09ce5d91u}},
    {"cbrt", {0xf9e57978d63ed8a2u, 0x2c69663093d513d1u}, {0xa8964ad221a6fbf5u, 0x41a76fc288faa549u}},
    {"erf", {0x3b1bb99e707848ffu, 0x2b36eadbd23ae047u}, {0xb1c59c6ac777716eu, 0x8715c9fa91d1b466u}},
    {"abs", {0x5aeed31270bad239u, 0x9de8aec6a30ffba6u}, {0x44eda6a83d3c205fu, 0xf200745cb3c0dbfau}},
    {"sqrt", {0x397b05458255b99cu, 0x2cc4929218adaf93u}, {0x8730479392e8b55eu, 0x0840763999d531a0u}},
    {"floor", {0xed3dd657b07ca1dau, 0x2caee3abef1879bdu}, {0xedb3f153cfa36c24u, 0xd0bd56507f4862b0u}},
    {"ceil", {0x8a9d167595c13267u, 0x30e5e48c77a861e3u}, {0x1668227d85551f42u, 0xc35216d176189d2cu}},
    {"trunc", {0xe420122287ce4c59u, 0xdb60af6d7e6ae0b7u}, {0xf82ec4028004582au, 0xd259325eb352ecd0u}},
    {"round", {0xb58de0ad39be4537u, 0xafbfbba8d3cf4121u}, {0x4d49053902356b5au, 0x6a70633bdba7027cu}},
    {"nearest", {0x30c1cb1914bd93c9u, 0xafbfbba388ee70d9u}, {0xfcd0ed205d89c99du, 0x6a70633b9f7be9e4u}},
    {"atan2", {0x495f74200bac23a9u, 0xbc4a1497a59b5a1au}, {0x7ee744eb85ed4938u, 0x11f122f0d77263ebu}},
    {"pow", {0xc357c1f94bceb082u, 0x0f579ae7f41237dbu}, {0xa3dd89f3f1ace49du, 0x033c9807105a47abu}},
    {"hypot", {0x9fcad4b7414764f9u, 0xc7170188cb581317u}, {0x62a6c684a8ec2632u, 0xcff064bb36063818u}},
    {"fmod", {0xf27fe086ad99644cu, 0x4c5366cc5aaba181u}, {0x90043170ee423cbau, 0x23d4725e17ddb38fu}},
    {"copysign", {0xd3a8a6839205e439u, 0xb2813fd8a30ffba6u}, {0xe083043155b1e0dfu, 0x7200745cb3c0dbfau}},
    {"fma", {0xfc049f3cea7b4635u, 0xd7a85598e667f790u}, {0x01f6fcf1d02b3b39u, 0xb70c5979ea05490au}},
};

} // namespace golden
