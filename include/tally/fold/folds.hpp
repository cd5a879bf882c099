// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All folds. Layer 1: what a user's file and a kernel's translation unit both include.
#pragma once

#include <tally/fold/arg.hpp>
#include <tally/fold/bits.hpp>
#include <tally/fold/count.hpp>
#include <tally/fold/exact.hpp>
#include <tally/fold/fold_of.hpp>
#include <tally/fold/logsumexp.hpp>
#include <tally/fold/mean.hpp>
#include <tally/fold/min_max.hpp>
#include <tally/fold/moments.hpp>
#include <tally/fold/norm.hpp>
#include <tally/fold/product.hpp>
#include <tally/fold/sum.hpp>
#include <tally/fold/variance.hpp>
