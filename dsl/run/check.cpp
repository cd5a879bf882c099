// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is wrong with the columns of a source, and with where they are, in words.
#include "base/formatted.hpp"

#include <tally/run/check.hpp>
#include <tally/run/run.hpp>

namespace tally::v0::detail {

namespace {

void check_column(column_to_check const& c, i64 extent, int number) {
  if (extent < 0) throw extent_mismatch(formatted("column _{} has a negative extent, {}.", number, extent));
  if (c.is_null && extent > 0) throw null_column(formatted("column _{} is a null pointer with {} elements.", number, extent));
  if (c.stride_is_zero && extent > 1) throw zero_stride(formatted("column _{} has a stride of 0 over {} elements.", number, extent));
}

} // namespace

void throw_bad_bounds(int axis, double low, double high) {
  throw bad_bounds(formatted("histogram axis {} has the bounds {} and {}; it takes finite ones, the first below the second, a finite number apart, and so far that the bins of a distance of 1 are a finite number.", axis, low, high));
}

void check_columns(column_to_check const* columns, i64 const* extents, int count) {
  for (int i = 0; i < count; ++i) {
    check_column(columns[i], extents[i], i + 1);
    if (extents[i] != extents[0])
      throw extent_mismatch(formatted("column _{} has {} elements, column _1 has {}.", i + 1, extents[i], extents[0]));
  }
}

void check_columns(column_to_check const* columns, i64 const* extents, int count, int rank, i64 const* axes, i64 const* common) {
  for (int i = 0; i < count; ++i) {
    i64 own = 1;
    bool broadcast = false;
    for (int k = 0; k < rank; ++k) {
      i64 const has = axes[i * rank + k];
      if (has == any_extent) {
        broadcast = true;
        continue;
      }
      if (has < 0) throw extent_mismatch(formatted("column _{} has a negative extent along axis {}, {}.", i + 1, k, has));
      if (has != common[k])
        throw extent_mismatch(formatted("column _{} has {} elements along axis {}, the source has {}.", i + 1, has, k, common[k]));
      if (__builtin_mul_overflow(own, has, &own)) throw too_large(formatted("column _{} has more elements than 63 bits count.", i + 1));
    }
    check_column(columns[i], extents[i], i + 1);
    if (!broadcast && extents[i] != own)
      throw extent_mismatch(formatted("column _{} has {} elements, its axes take {}.", i + 1, extents[i], own));
  }
}

void check_host_can_read(gpu::column_place const* places, int count) {
  for (int i = 0; i < count; ++i)
    if (places[i].pointer != nullptr && gpu::residence_of(*places[i].pointer) == gpu::residence::device)
      throw wrong_residence(formatted("column _{} is in device memory and the run is on the CPU.", i + 1));
}

void check_gpu_can_keep(void const* memory, char const* what, int number, int ordinal) {
  int owner = -1;
  auto const where = gpu::residence_of(memory, &owner);
  auto const name = number > 0 ? formatted("{}{}", what, number) : std::string(what);
  if (where == gpu::residence::host || where == gpu::residence::pinned)
    throw wrong_residence(formatted("{} is in host memory: what is enqueued reads and writes the memory of its GPU.", name));
  if (where == gpu::residence::device && owner != ordinal)
    throw wrong_residence(formatted("{} is in the memory of GPU {}, the run is on GPU {}.", name, owner, ordinal));
}
void check_gpu_can_keep(gpu::column_place const* places, int count, int ordinal) {
  for (int i = 0; i < count; ++i)
    if (places[i].pointer != nullptr) check_gpu_can_keep(*places[i].pointer, "column _", i + 1, ordinal);
}

void throw_no_element(std::string const& fold, i64 extent) {
  throw empty_input(formatted("{} met no element among {}.", fold, extent));
}

} // namespace tally::v0::detail
