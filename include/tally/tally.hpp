// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything a user needs: pipelines, folds, run, explain. No header of the library includes this one. Its words are what
// `using namespace tally` brings, and all it brings: how they are done is in tally::v0, and may change.
#pragma once

#include <tally/base/because.hpp> // first, so that a refusal has a short way to the user's file
#include <tally/fold/folds.hpp>
#include <tally/pipeline/batch.hpp>
#include <tally/pipeline/by_key.hpp>
#include <tally/pipeline/by_segment.hpp>
#include <tally/pipeline/collect.hpp>
#include <tally/pipeline/filter.hpp>
#include <tally/pipeline/from.hpp>
#include <tally/pipeline/group_by.hpp>
#include <tally/pipeline/histogram.hpp>
#include <tally/pipeline/let.hpp>
#include <tally/pipeline/map.hpp>
#include <tally/pipeline/over.hpp>
#include <tally/pipeline/reduce.hpp>
#include <tally/run/enqueue.hpp>
#include <tally/run/explain.hpp>
#include <tally/run/explain_grouped.hpp>
#include <tally/run/explain_let.hpp>
#include <tally/run/log.hpp>
#include <tally/run/partial.hpp>
#include <tally/run/run.hpp>
#include <tally/run/run_batch.hpp>
#include <tally/run/run_collect.hpp>
#include <tally/run/run_group_by.hpp>
#include <tally/run/run_grouped.hpp>
#include <tally/run/run_into.hpp>
#include <tally/run/run_into_grouped.hpp>
#include <tally/run/run_into_let.hpp>
#include <tally/run/run_keyed.hpp>
#include <tally/run/run_let.hpp>
#include <tally/run/run_timed.hpp>
#include <tally/run/start.hpp>

namespace tally {

// Sources
using v0::along, v0::device, v0::every, v0::from, v0::iota, v0::shaped, v0::sized_column;

// Stages, and pipelines of several
using v0::batch, v0::collect, v0::filter, v0::let, v0::map, v0::reduce;

// Groupings
using v0::by_key, v0::by_segment, v0::group_by, v0::over;
using v0::even_bins, v0::histogram, v0::key_bins;

// Elements
using v0::_1, v0::_2, v0::_3, v0::_4, v0::_5, v0::_6, v0::_7, v0::_8;
using v0::bits_or, v0::cast, v0::index, v0::index_along, v0::is_nan, v0::least, v0::most, v0::select, v0::squared;
using v0::abs, v0::cbrt, v0::copysign, v0::fma, v0::fmod, v0::hypot, v0::pow, v0::sigmoid, v0::sqrt;
using v0::acos, v0::asin, v0::atan, v0::atan2, v0::cos, v0::cosh, v0::sin, v0::sinh, v0::tan, v0::tanh;
using v0::ceil, v0::floor, v0::nearest, v0::round, v0::trunc;
using v0::erf, v0::exp, v0::exp2, v0::expm1, v0::log, v0::log10, v0::log1p, v0::log2;

// Folds
using v0::argmax, v0::argmin, v0::extent_of_values, v0::first, v0::last, v0::max, v0::min, v0::minmax;
using v0::all, v0::any, v0::bit_and, v0::bit_or, v0::bit_xor, v0::count, v0::count_if, v0::count_modulo, v0::countdown_modulo, v0::none;
using v0::logsumexp, v0::mean, v0::norm, v0::norm_inf, v0::product, v0::sum;
using v0::covariance, v0::moments, v0::moments_result, v0::sample_variance, v0::stddev, v0::variance;
using v0::associative, v0::commutative, v0::fold_of, v0::order_free;

// Running
namespace on = v0::on;
using v0::enqueue, v0::pending, v0::prepare, v0::run, v0::run_into, v0::run_timed, v0::start;
using v0::contract, v0::exact, v0::fast, v0::reproducible;
using v0::finish, v0::from_bytes, v0::merge, v0::part_granularity, v0::partial, v0::starting_at, v0::to_bytes;
using v0::mdarray;

// Looking
namespace targets = v0::targets;
using v0::description, v0::explain, v0::explanation, v0::grouped_description, v0::grouped_explanation, v0::target;
using v0::log_sink, v0::set_log_sink;

// Errors
using v0::bad_bounds, v0::bad_bytes, v0::bad_offsets, v0::compile_failed, v0::device_lost, v0::empty_input, v0::error, v0::error_code;
using v0::extent_mismatch, v0::key_out_of_range, v0::launch_failed, v0::misaligned_partial, v0::no_gpu, v0::no_headers;
using v0::no_nvrtc, v0::not_prepared, v0::null_column, v0::out_of_memory, v0::overflow, v0::too_large;
using v0::wrong_residence, v0::zero_modulus, v0::zero_stride;

} // namespace tally
