// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The promise of `reproducible` on the CPU: for every fold and element type the bits depend on the elements alone, not on
// threads or addresses, and they are the bits of golden_bits.hpp, whatever compiler and instruction set made this program.
// TALLY_UPDATE_GOLDEN=1 writes that file anew: only together with a new tree_version.
#include "laws/golden_bits.hpp"
#include "laws/table/fold_case.hpp"

#include <tally/fold/tree.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

using namespace fold_table;

namespace {

/// Elements of a leaf and of a tile, for columns of that width.
i64 leaf_of(int bytes) { return i64(32) * (16 / bytes > 8 ? 8 : 16 / bytes) * 8; }
i64 tile_of(int bytes) { return 64 * leaf_of(bytes); }

/// Sizes around rows, leaves and tiles, and a million and seven.
std::vector<i64> border_sizes(int bytes) {
  i64 const leaf = leaf_of(bytes), lanes = leaf / 8, tile = tile_of(bytes);
  return {0,        1,    2,    3,        31,       32,   33,       lanes - 1,           lanes, lanes + 1, leaf - 1,
          leaf,     leaf + 1, 3 * leaf + lanes + 5, tile - 1, tile, tile + 1, 3 * tile + 2 * leaf + 7, 1000007};
}

/// Bytes that start `skip` behind a border of 64.
class displaced {
public:
  displaced(std::vector<std::byte> const& bytes, std::size_t skip) : memory_(bytes.size() + skip + 64) {
    start_ = memory_.data() + (64 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 64) + skip;
    if (!bytes.empty()) std::memcpy(start_, bytes.data(), bytes.size());
  }
  void const* data() const { return start_; }

private:
  std::vector<std::byte> memory_;
  std::byte* start_;
};

u64 mixed(u64 hash, answers const& a) {
  for (u64 const word : a.bits)
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ ((word >> (8 * byte)) & 0xff)) * 0x100000001b3u;
  return hash;
}

/// FNV-1a over the bits of all answers at all sizes, and at NaN, infinities and zeros.
u64 hash_of(fold_case const& c) {
  u64 hash = 0xcbf29ce484222325u;
  for (i64 n : border_sizes(c.element_bytes)) hash = mixed(hash, c.on_cpu(displaced(c.numbers(n), 0).data(), n, 1));
  for (int special = 0; special < special_count; ++special)
    for (int other = 0; other < other_count; ++other)
      for (i64 n : {1, 2, 300, 5000})
        if (auto const bytes = c.specials(n, n / 3, special, other); !bytes.empty())
          hash = mixed(hash, c.on_cpu(displaced(bytes, 0).data(), n, 1));
  return hash;
}

void write_golden(std::map<std::string, u64> const& hashes) {
  std::ofstream out(TALLY_REPOSITORY "/tests/laws/golden_bits.hpp");
  out << "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n//\n"
         "// The bits of every answer of the table of folds, hashed; written by tests/laws/same_bits.cpp. They belong to the\n"
         "// version of the tree and never change without a new one.\n#pragma once\n\n#include <string_view>\n\n"
         "namespace golden {\ninline constexpr int of_tree_version = "
      << tally::v0::tree_version
      << ";\nstruct entry {\n  std::string_view name;\n  unsigned long long hash;\n};\ninline constexpr entry bits[] = {\n";
  for (auto const& [name, hash] : hashes) out << "    {\"" << name << "\", 0x" << std::hex << hash << "ull},\n";
  out << "};\n} // namespace golden\n";
}

} // namespace

TEST_CASE("threads do not change a bit, of any fold of any type at any size") {
  for (auto const& c : all_cases())
    for (i64 n : border_sizes(c->element_bytes)) {
      displaced const at(c->numbers(n), 0);
      auto const expected = c->on_cpu(at.data(), n, 1).bits;
      for (int threads : {2, 3, 8}) {
        CAPTURE(c->name);
        CAPTURE(n);
        CAPTURE(threads);
        CHECK(c->on_cpu(at.data(), n, threads).bits == expected);
      }
    }
}

TEST_CASE("the address does not change a bit, at any misalignment from 0 to 15 bytes that the type allows") {
  for (auto const& c : all_cases()) {
    i64 const leaf = leaf_of(c->element_bytes);
    for (i64 n : {i64(5), leaf + 1, 70 * leaf + 333}) {
      auto const bytes = c->numbers(n);
      auto const expected = c->on_cpu(displaced(bytes, 0).data(), n, 2).bits;
      for (std::size_t skip = 0; skip < 16; skip += static_cast<std::size_t>(c->element_bytes)) {
        CAPTURE(c->name);
        CAPTURE(n);
        CAPTURE(skip);
        CHECK(c->on_cpu(displaced(bytes, skip).data(), n, 2).bits == expected);
      }
    }
  }
}

TEST_CASE("elements far apart, or in reverse, have the bits they have side by side") {
  auto const& some = case_named("f32 some");
  for (i64 n : border_sizes(4)) {
    auto const raw = some.numbers(3 * n);
    std::vector<std::byte> third(static_cast<std::size_t>(n) * 4), back(third.size());
    for (i64 k = 0; k < n; ++k) {
      std::memcpy(third.data() + 4 * k, raw.data() + 12 * k, 4);
      std::memcpy(back.data() + 4 * k, raw.data() + 4 * (n - 1 - k), 4);
    }
    CAPTURE(n);
    CHECK(case_named("f32 every third").on_cpu(raw.data(), 3 * n, 3).bits == some.on_cpu(third.data(), n, 1).bits);
    CHECK(case_named("f32 reversed").on_cpu(raw.data(), n, 3).bits == some.on_cpu(back.data(), n, 1).bits);
  }
}

TEST_CASE("the bits are the golden ones") {
  bool const update = std::getenv("TALLY_UPDATE_GOLDEN") != nullptr;
  std::map<std::string, u64> hashes;
  for (auto const& c : all_cases()) hashes[c->name] = hash_of(*c);
  if (update) {
    write_golden(hashes);
    MESSAGE("tests/laws/golden_bits.hpp was written");
    return;
  }
  CHECK(golden::of_tree_version == tally::v0::tree_version);
  CHECK(std::size(golden::bits) == hashes.size());
  for (golden::entry const& entry : golden::bits) {
    std::string const name(entry.name);
    CAPTURE(name);
    REQUIRE(hashes.contains(name));
    CHECK(hashes.at(name) == entry.hash);
  }
}

TEST_CASE("the detectors see a changed tree: two neighbours exchanged, anywhere") {
  for (char const* type : {"u8", "u32", "u64"}) {
    auto const& c = case_named(std::string(type) + " own folds");
    i64 const n = 3 * leaf_of(c.element_bytes) + 17;
    auto const bytes = c.numbers(n);
    auto const before = c.on_cpu(bytes.data(), n, 1);
    auto const size = static_cast<std::ptrdiff_t>(c.element_bytes);
    for (std::ptrdiff_t k = 0; k + 1 < n; k += 97) {
      auto exchanged = bytes;
      auto const one = exchanged.begin() + k * size;
      std::swap_ranges(one, one + size, one + size);
      if (exchanged == bytes) continue;
      auto const after = c.on_cpu(exchanged.data(), n, 1);
      CAPTURE(c.name);
      CAPTURE(k);
      for (std::size_t detector : {0u, 1u, 2u}) CHECK(after.bits[detector] != before.bits[detector]);
    }
  }
}
