// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bench's workloads as a user of tally writes them: one pipeline each, over columns given by address. Shared by the
// contestant that is timed and by the rehearsal that compiles its kernels where there is no GPU. Test layer.
#pragma once

#include <tally/tally.hpp>
#if __has_include(<tally/complex.hpp>)
#include <tally/complex.hpp>
#endif

#include <complex>
#include <cstdint>

namespace bench {

using namespace tally::v0;
using addresses = const void* const*;

template <class T> auto column(addresses columns, int which, std::int64_t n) {
  return device(static_cast<T const*>(columns == nullptr ? nullptr : columns[which]), n);
}

/// A reduction bound as a contract asks.
template <contract Contract, class R> auto bind_as(R const& r) {
  if constexpr (Contract == contract::exact)
    return bind_exactly(r);
  else
    return bind(r);
}
/// Whether all folds of a workload have an exact form.
template <class Work>
inline constexpr bool has_exact_form = tally::v0::detail::runnable<decltype(Work::pipeline(nullptr, 0)), exact_contract>;

template <class T> struct sum_of {
  static auto pipeline(addresses c, std::int64_t n) { return from(column<T>(c, 0, n)) | reduce(sum); }
};
struct dot {
  static auto pipeline(addresses c, std::int64_t n) {
    return from(column<float>(c, 0, n), column<float>(c, 1, n)) | reduce(sum(_1 * _2));
  }
};
struct norm_of {
  static auto pipeline(addresses c, std::int64_t n) { return from(column<float>(c, 0, n)) | reduce(norm<2>); }
};
struct sad {
  static auto pipeline(addresses c, std::int64_t n) {
    return from(column<float>(c, 0, n), column<float>(c, 1, n)) | reduce(sum(abs(_1 - _2)));
  }
};
struct wmse {
  static auto pipeline(addresses c, std::int64_t n) {
    return from(column<float>(c, 0, n), column<float>(c, 1, n), column<float>(c, 2, n)) |
           reduce(mean(_3 * (_1 - _2) * (_1 - _2)));
  }
};
struct sumexp {
  static auto pipeline(addresses c, std::int64_t n) { return from(column<float>(c, 0, n)) | reduce(sum(exp(_1))); }
};
struct five {
  static auto pipeline(addresses c, std::int64_t n) {
    return from(column<float>(c, 0, n)) | reduce(sum, min, max, mean, variance);
  }
};
struct seven {
  static auto pipeline(addresses c, std::int64_t n) {
    return from(column<float>(c, 0, n)) | reduce(sum, min, max, mean, variance, sum(_1 * _1), argmax);
  }
};
struct argmax_of {
  static auto pipeline(addresses c, std::int64_t n) { return from(column<float>(c, 0, n)) | reduce(argmax); }
};
struct logsumexp_of {
  static auto pipeline(addresses c, std::int64_t n) { return from(column<float>(c, 0, n)) | reduce(logsumexp); }
};
struct variance_of {
  static auto pipeline(addresses c, std::int64_t n) { return from(column<float>(c, 0, n)) | reduce(variance); }
};

/// Calls visit.operator()<Work>(workload, type, columns, results) for every workload.
template <class Visit> void for_each_workload(Visit&& visit) {
  visit.template operator()<sum_of<float>>("sum", "f32", 1, 1);
  visit.template operator()<sum_of<double>>("sum", "f64", 1, 1);
  visit.template operator()<sum_of<std::int32_t>>("sum", "i32", 1, 1);
  visit.template operator()<sum_of<std::int8_t>>("sum", "i8", 1, 1);
  visit.template operator()<sum_of<bf16>>("sum", "bf16", 1, 1);
  visit.template operator()<dot>("dot", "f32", 2, 1);
  visit.template operator()<norm_of>("norm", "f32", 1, 1);
  visit.template operator()<sad>("sad", "f32", 2, 1);
  visit.template operator()<wmse>("wmse", "f32", 3, 1);
  visit.template operator()<sumexp>("sumexp", "f32", 1, 1);
  visit.template operator()<five>("five", "f32", 1, 5);
  visit.template operator()<seven>("seven", "f32", 1, 7);
  visit.template operator()<argmax_of>("argmax", "f32", 1, 1);
  visit.template operator()<logsumexp_of>("logsumexp", "f32", 1, 1);
  visit.template operator()<variance_of>("variance", "f32", 1, 1);
#if __has_include(<tally/complex.hpp>)
  visit.template operator()<sum_of<typename element_of_storage<std::complex<float>>::type>>("sum", "c64", 1, 2);
#endif
}

}  // namespace bench
