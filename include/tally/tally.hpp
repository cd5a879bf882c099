// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything a user needs: pipelines, folds, run, explain. No header of the library includes this one.
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
