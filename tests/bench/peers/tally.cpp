// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tally as a contestant: each workload as a user writes it, under every contract that it has, queued on the bench's stream through the
// door that start() uses: reductions behind each other. Every enqueue binds, plans and looks its kernel up again, as a warm start does;
// the states stay on the device, as the answers of the peers do. Test layer.
#include "../contestant.h"

#include "tally_workloads.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace tally::v0;
using bench::addresses;

std::string& error_text() {
  static std::string text;
  return text;
}

struct prepared_run {
  virtual ~prepared_run() = default;
  virtual void enqueue(addresses columns, void* stream) = 0;
  virtual void results(double* out) const = 0;
};

template <class T> double as_double(T value) { return static_cast<double>(value); }

template <class Answer> void spread(Answer const& answer, double* out) {
  if constexpr (requires { std::tuple_size<Answer>::value; })
    std::apply([&](auto const&... a) { ((*out++ = as_double(a)), ...); }, answer);
  else if constexpr (requires { answer.real(); })
    out[0] = as_double(answer.real()), out[1] = as_double(answer.imag());
  else
    out[0] = as_double(answer);
}

/// `Work::pipeline(columns, n)` is the reduction; everything else is the same for all.
template <class Work, contract Contract> struct run_of : prepared_run {
  using reduction = decltype(Work::pipeline(nullptr, 0));
  using bound_type = decltype(bench::bind_as<Contract>(std::declval<reduction const&>()));
  using states = typename decltype(bound_type::program)::states;

  explicit run_of(std::int64_t count) : n(count) {}

  void enqueue(addresses columns, void* stream) override {
    auto const r = Work::pipeline(columns, n);
    check_source(r.pipe.source);
    auto bound = bench::bind_as<Contract>(r);
    auto request = detail::request_for(bound.program, on::gpu.stream(stream), Contract);
    request.answer = place.data();
    request.f.queued = true;
    gpu::enqueue(request);
    used = {stream};
  }
  void results(double* out) const override {
    const void* nowhere[3] = {nullptr, nullptr, nullptr};
    auto const r = Work::pipeline(nowhere, n);
    auto const bound = bench::bind_as<Contract>(r);
    states s;
    gpu::copy(&s, place.data(), sizeof s, 0, used);
    gpu::wait(0, used);
    spread(detail::answers_of(r, bound, s), out);
  }

  std::int64_t n;
  gpu::device_memory place = gpu::allocate(sizeof(states), 0);
  gpu::stream_ref used;
};

struct maker {
  contest_entry entry;
  std::unique_ptr<prepared_run> (*make)(std::int64_t n);
};

template <class Work, contract Contract> std::unique_ptr<prepared_run> make(std::int64_t n) {
  return std::make_unique<run_of<Work, Contract>>(n);
}

std::vector<maker> const& table() {
  static std::vector<maker> const rows = [] {
    std::vector<maker> all;
    bench::for_each_workload([&]<class Work>(const char* workload, const char* type, int columns, int results) {
      constexpr std::int64_t any = std::int64_t{1} << 40;
      all.push_back({{workload, type, "reproducible", "tally", columns, results, 1, 1, any}, &make<Work, contract::reproducible>});
      all.push_back({{workload, type, "fast", "tally", columns, results, 1, 1, any}, &make<Work, contract::fast>});
      if constexpr (bench::has_exact_form<Work>)
        all.push_back({{workload, type, "exact", "tally", columns, results, 1, 1, any}, &make<Work, contract::exact>});
    });
    return all;
  }();
  return rows;
}

/// Runs a body; an exception becomes the error text.
template <class Body> bool attempt(Body&& body) {
  try {
    body();
    return true;
  } catch (std::exception const& e) {
    error_text() = e.what();
  } catch (...) {
    error_text() = "an exception that is no std::exception";
  }
  return false;
}

}  // namespace

extern "C" {

const contest_card* contest_describe() {
  static std::vector<contest_entry> const entries = [] {
    std::vector<contest_entry> all;
    for (auto const& row : table()) all.push_back(row.entry);
    return all;
  }();
  static std::string const version = std::to_string(TALLY_VERSION_MAJOR) + "." + std::to_string(TALLY_VERSION_MINOR) + "." +
                                     std::to_string(TALLY_VERSION_PATCH) + ", " __VERSION__;
  static contest_card const card{CONTEST_ABI, static_cast<std::int32_t>(entries.size()), "tally", version.c_str(),
                                 entries.data()};
  return &card;
}

void* contest_prepare(std::int32_t entry, std::int64_t n, addresses columns, void* stream) {
  std::unique_ptr<prepared_run> run;
  bool const good = attempt([&] {
    run = table()[static_cast<std::size_t>(entry)].make(n);
    run->enqueue(columns, stream); // compiles and loads
  });
  return good ? run.release() : nullptr;
}

std::int32_t contest_burst(void* handle, addresses columns, const std::int64_t* strides, std::int64_t sets,
                           std::int64_t first, std::int64_t count, void* stream) {
  auto& run = *static_cast<prepared_run*>(handle);
  auto const* bases = reinterpret_cast<const unsigned char* const*>(columns);
  return attempt([&] {
    for (std::int64_t k = 0; k < count; ++k) {
      const void* at[3];
      for (int c = 0; c < 3; ++c) at[c] = bases[c] == nullptr ? nullptr : bases[c] + strides[c] * ((first + k) % sets);
      run.enqueue(at, stream);
    }
  }) ? 0 : 1;
}

std::int32_t contest_results(void* handle, double* results) {
  return attempt([&] { static_cast<prepared_run*>(handle)->results(results); }) ? 0 : 1;
}
std::int32_t contest_poison(void*, void*) { return 1; } // each run has a slot of its own
void contest_release(void* handle) { delete static_cast<prepared_run*>(handle); }
const char* contest_error() { return error_text().c_str(); }
}
