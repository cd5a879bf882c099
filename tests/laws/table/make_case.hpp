// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case from a pipeline: its answers flattened into bits.
#pragma once

#include "laws/table/fold_case.hpp"

#include <tally/fold/folds.hpp>
#include <tally/pipeline/filter.hpp>
#include <tally/pipeline/from.hpp>
#include <tally/pipeline/map.hpp>
#include <tally/run/run.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>

namespace fold_table {

template <class T>
void flatten(answers& out, T const& x) {
  static_assert(sizeof(T) <= 8 && tally::v0::real<T>);
  u64 bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  out.bits.push_back(bits);
  out.values.push_back(static_cast<double>(x));
}
template <class T>
void flatten(answers& out, tally::v0::extent_of_values<T> const& x) {
  flatten(out, x.min), flatten(out, x.max);
}
template <class A, int K>
void flatten(answers& out, tally::v0::moments_result<A, K> const& x) {
  flatten(out, x.n), flatten(out, x.mean);
  for (A c : x.central) flatten(out, c);
}
template <class T>
void flatten(answers& out, std::optional<T> const& x) {
  flatten(out, x.has_value());
  flatten(out, x ? *x : T{});
}
template <class... Ts>
void flatten(answers& out, std::tuple<Ts...> const& x) {
  std::apply([&](auto const&... each) { (flatten(out, each), ...); }, x);
}

/// Element k of numbers(): a hash of k as a float of the format, or its low bits as an integer.
template <class T>
T number_at(i64 k) {
  u64 h = static_cast<u64>(k) * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h ^= h >> 27;
  if constexpr (tally::v0::floating<T>) {
    double const u = static_cast<double>(static_cast<i64>(h >> 11) - (i64{1} << 52)) / static_cast<double>(i64{1} << 52);
    return static_cast<T>(u * static_cast<double>(u64{1} << (h & 15)) / 256);
  } else if constexpr (std::is_same_v<T, bool>) {
    return (h >> 20) % 3 == 0;
  } else {
    return static_cast<T>(h >> 13);
  }
}

template <class T>
T special_number(int which) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  switch (which) {
  case 0: return static_cast<T>(nan);
  case 1: return static_cast<T>(-nan);
  case 2: return static_cast<T>(infinity);
  case 3: return static_cast<T>(-infinity);
  case 4: return static_cast<T>(-0.0f);
  default: {
    T x{};
    unsigned char const one = 1;
    std::memcpy(&x, &one, 1);
    return x;
  }
  }
}

template <class T, class Make>
class typed_case final : public fold_case {
public:
  explicit typed_case(Make make) : make_(make) {}

  std::vector<std::byte> numbers(i64 n) const override {
    return bytes_of(n, [](i64 k) { return number_at<T>(k); });
  }
  std::vector<std::byte> specials([[maybe_unused]] i64 n, [[maybe_unused]] i64 at, [[maybe_unused]] int special,
                                  [[maybe_unused]] int other) const override {
    if constexpr (tally::v0::floating<T>)
      return bytes_of(n, [&](i64 k) {
        if (k == at) return special_number<T>(special);
        return other == 2 ? special_number<T>(3) : static_cast<T>(static_cast<float>(other));
      });
    else
      return {};
  }
  answers on_cpu(void const* data, i64 n, int threads) const override {
    return flat(run(make_(static_cast<T const*>(data), n), tally::v0::on::cpu.threads(threads)));
  }
  answers on_gpu(void const* data, i64 n, tally::v0::contract c, void* stream) const override {
    return flat(run(make_(static_cast<T const*>(data), n), tally::v0::on::gpu.stream(stream), c));
  }
  tally::v0::gpu::unit unit(i64 n, int alignment, tally::v0::target const& t, tally::v0::contract c) const override {
    auto const* const at = reinterpret_cast<T const*>(std::uintptr_t{0x100000000u} + static_cast<unsigned>(alignment % 16));
    auto bound = tally::v0::bind(make_(at, n));
    auto request = tally::v0::detail::request_for(bound.program, tally::v0::on::gpu, c);
    request.f.target = t;
    return tally::v0::gpu::unit_of(*request.type, tally::v0::make_plan(request.f).plan, request.f);
  }

private:
  template <class F>
  static std::vector<std::byte> bytes_of(i64 n, F const& f) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(n) * sizeof(T));
    for (i64 k = 0; k < n; ++k) {
      T const x = f(k);
      std::memcpy(bytes.data() + static_cast<std::size_t>(k) * sizeof(T), &x, sizeof x);
    }
    return bytes;
  }
  template <class Answer>
  static answers flat(Answer const& a) {
    answers out;
    flatten(out, a);
    return out;
  }
  Make make_;
};

/// Adds a case: make(pointer, n) gives the pipeline over n elements of type T.
template <class T, class Make>
void add_case(case_list& to, std::string const& name, Make make) {
  auto one = std::make_unique<typed_case<T, Make>>(make);
  one->name = name;
  one->contents = text_of(make(static_cast<T const*>(nullptr), 0));
  one->element_bytes = int(sizeof(T));
  to.push_back(std::move(one));
}

} // namespace fold_table
