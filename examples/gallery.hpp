// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every lesson includes beside tally itself: readers for the data, and the lesson that runs a pipeline, checks it
// against a plain loop, times it and keeps a record for the page. No part of the library.
#pragma once

#include "gallery/lesson.hpp"
#include "gallery/read.hpp"
