// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Large pages under arrays of answers: small ones take longer to get than to fill (docs/measured/axes_on_two_cores.md). Layer 5.
#include <tally/run/cpu_door.hpp>

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tally::v0::cpu {

void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = std::uintptr_t(2) << 20; // what lies between whole ones stays as it is
  auto const at = reinterpret_cast<std::uintptr_t>(memory), begin = (at + page - 1) / page * page, end = (at + bytes) / page * page;
  if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE); // it is a wish
#endif
}

} // namespace tally::v0::cpu
