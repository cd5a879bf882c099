// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contestant of the self-test: plain host loops in double over host memory, so that run.py, the C interface and the
// checks are exercised on a machine with no GPU. One entry drops the last element on purpose: the check must catch it. It is
// never part of a measurement. Test layer.
#include "../contestant.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

namespace {

struct run {
  int entry;
  std::int64_t n;
  double answer[8];
};

double bf16(std::uint16_t bits) {
  std::uint32_t const word = std::uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &word, sizeof value);
  return static_cast<double>(value);
}

template <class T, class Lift> double sum_of(const void* at, std::int64_t n, Lift lift) {
  auto const* x = static_cast<T const*>(at);
  double total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += lift(x[i]);
  return total;
}

constexpr auto as_double = [](auto v) { return static_cast<double>(v); };

using columns = const void* const*;
using body = void (*)(columns, std::int64_t, double*);

float const* f32(columns c, int which) { return static_cast<float const*>(c[which]); }

struct row {
  contest_entry entry;
  body compute;
};

constexpr std::int64_t any = std::int64_t{1} << 40;

void five(columns c, std::int64_t n, double* r) {
  auto const* x = f32(c, 0);
  double const count = static_cast<double>(n);
  r[0] = sum_of<float>(x, n, as_double);
  r[1] = static_cast<double>(*std::min_element(x, x + n));
  r[2] = static_cast<double>(*std::max_element(x, x + n));
  r[3] = r[0] / count;
  r[4] = sum_of<float>(x, n, [&](float v) { return (as_double(v) - r[3]) * (as_double(v) - r[3]); }) / count;
}

std::vector<row> const table{
    {{"sum", "f32", "plain", "peer", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) { r[0] = sum_of<float>(c[0], n, as_double); }},
    {{"sum", "f32", "drops the last element", "peer", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) { r[0] = sum_of<float>(c[0], n - 1, as_double); }},
    {{"sum", "f32", "reproducible", "tally", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) { r[0] = sum_of<float>(c[0], n, as_double); }},
    {{"sum", "f32", "fast", "tally", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) { r[0] = sum_of<float>(c[0], n, as_double); }},
    {{"sum", "f64", "plain", "peer", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) { r[0] = sum_of<double>(c[0], n, as_double); }},
    {{"sum", "i32", "plain", "peer", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) { r[0] = sum_of<std::int32_t>(c[0], n, as_double); }},
    {{"sum", "i8", "plain", "peer", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) { r[0] = sum_of<std::int8_t>(c[0], n, as_double); }},
    {{"sum", "bf16", "plain", "peer", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) { r[0] = sum_of<std::uint16_t>(c[0], n, bf16); }},
    {{"sum", "c64", "plain", "peer", 1, 2, 1, 1, any},
     [](columns c, std::int64_t n, double* r) {
       r[0] = sum_of<std::complex<float>>(c[0], n, [](auto v) { return as_double(v.real()); });
       r[1] = sum_of<std::complex<float>>(c[0], n, [](auto v) { return as_double(v.imag()); });
     }},
    {{"dot", "f32", "plain", "peer", 2, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) {
       r[0] = 0;
       for (std::int64_t i = 0; i < n; ++i) r[0] += as_double(f32(c, 0)[i]) * as_double(f32(c, 1)[i]);
     }},
    {{"norm", "f32", "plain", "peer", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) {
       r[0] = std::sqrt(sum_of<float>(c[0], n, [](float v) { return as_double(v) * as_double(v); }));
     }},
    {{"sad", "f32", "plain", "peer", 2, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) {
       r[0] = 0;
       for (std::int64_t i = 0; i < n; ++i) r[0] += std::abs(as_double(f32(c, 0)[i]) - as_double(f32(c, 1)[i]));
     }},
    {{"wmse", "f32", "plain", "peer", 3, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) {
       r[0] = 0;
       for (std::int64_t i = 0; i < n; ++i) {
         double const gap = as_double(f32(c, 0)[i]) - as_double(f32(c, 1)[i]);
         r[0] += as_double(f32(c, 2)[i]) * gap * gap;
       }
       r[0] /= static_cast<double>(n);
     }},
    {{"sumexp", "f32", "plain", "peer", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) { r[0] = sum_of<float>(c[0], n, [](float v) { return std::exp(as_double(v)); }); }},
    {{"logsumexp", "f32", "plain", "peer", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) {
       r[0] = std::log(sum_of<float>(c[0], n, [](float v) { return std::exp(as_double(v)); }));
     }},
    {{"five", "f32", "plain", "peer", 1, 5, 1, 1, any}, &five},
    {{"five", "f32", "reproducible", "tally", 1, 5, 1, 1, any}, &five},
    {{"variance", "f32", "plain", "peer", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) {
       double all[5];
       five(c, n, all);
       r[0] = all[4];
     }},
    {{"argmax", "f32", "plain", "peer", 1, 1, 1, 1, any},
     [](columns c, std::int64_t n, double* r) {
       auto const* x = f32(c, 0);
       r[0] = static_cast<double>(std::max_element(x, x + n) - x);
     }},
};

}  // namespace

extern "C" {

const contest_card* contest_describe() {
  static std::vector<contest_entry> const entries = [] {
    std::vector<contest_entry> all;
    for (auto const& r : table) all.push_back(r.entry);
    return all;
  }();
  static contest_card const card{CONTEST_ABI, static_cast<std::int32_t>(entries.size()), "plain", "1", entries.data()};
  return &card;
}

void* contest_prepare(std::int32_t entry, std::int64_t n, const void* const*, void*) { return new run{entry, n, {}}; }

std::int32_t contest_burst(void* handle, const void* const* at, const std::int64_t* strides, std::int64_t sets,
                           std::int64_t first, std::int64_t count, void*) {
  auto& r = *static_cast<run*>(handle);
  auto const* bases = reinterpret_cast<const unsigned char* const*>(at);
  for (std::int64_t k = 0; k < count; ++k) {
    const void* here[3];
    for (int c = 0; c < 3; ++c) here[c] = bases[c] ? bases[c] + strides[c] * ((first + k) % sets) : nullptr;
    table[static_cast<std::size_t>(r.entry)].compute(here, r.n, r.answer);
  }
  return 0;
}

std::int32_t contest_results(void* handle, double* results) {
  std::copy_n(static_cast<run*>(handle)->answer, 8, results);
  return 0;
}
std::int32_t contest_poison(void* handle, void*) {
  std::fill_n(static_cast<run*>(handle)->answer, 8, -1.2345e300);
  return 0;
}
void contest_release(void* handle) { delete static_cast<run*>(handle); }
const char* contest_error() { return ""; }
}
