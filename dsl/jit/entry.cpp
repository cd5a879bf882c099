// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing and checking an entry. Numbers are stored as this machine has them: the magic number, read on a machine of
// another byte order, is another number. Compiled side, jit.
#include "jit/entry.hpp"

#include "jit/hash.hpp"

#include <cstdint>
#include <cstring>

namespace tally::v0::jit {
namespace {

struct entry_head {
  std::uint64_t magic = 0x7461'6c6c'794b'3031u; // "tallyK01": the last two digits are the version of the format
  std::uint64_t key_bytes = 0, name_bytes = 0, ptx_bytes = 0, cubin_bytes = 0;
  double compile_seconds = 0;
  std::uint64_t checksum = 0; // of the head with this field 0, then of everything behind it
};

std::uint64_t checksum_of(entry_head head, std::string_view body) {
  head.checksum = 0;
  char bytes[sizeof head];
  std::memcpy(bytes, &head, sizeof head);
  return fnv64(body, fnv64({bytes, sizeof head}));
}

} // namespace

std::string encode_entry(std::string_view key, gpu::compiled const& result) {
  entry_head head;
  head.key_bytes = key.size();
  head.name_bytes = result.lowered_name.size();
  head.ptx_bytes = result.ptx.size();
  head.cubin_bytes = result.cubin.size();
  head.compile_seconds = result.compile_seconds;
  std::string bytes(sizeof head, '\0');
  bytes.append(key).append(result.lowered_name).append(result.ptx).append(result.cubin.data(), result.cubin.size());
  head.checksum = checksum_of(head, std::string_view(bytes).substr(sizeof head));
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

std::optional<gpu::compiled> decode_entry(std::string_view bytes, std::string_view key) {
  entry_head head, expected;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  auto body = bytes.substr(sizeof head);
  auto const take = [&body](std::uint64_t count, bool& complete) {
    complete = complete && count <= body.size();
    auto const part = body.substr(0, complete ? static_cast<std::size_t>(count) : 0);
    body.remove_prefix(part.size());
    return part;
  };
  if (head.magic != expected.magic || head.checksum != checksum_of(head, body)) return std::nullopt;
  bool complete = true;
  auto const stored_key = take(head.key_bytes, complete), name = take(head.name_bytes, complete);
  auto const ptx = take(head.ptx_bytes, complete), cubin = take(head.cubin_bytes, complete);
  if (!complete || !body.empty() || stored_key != key) return std::nullopt;
  gpu::compiled result;
  result.lowered_name = name;
  result.ptx = ptx;
  result.cubin.assign(cubin.begin(), cubin.end());
  result.compile_seconds = head.compile_seconds;
  result.from_disk = true;
  return result;
}

} // namespace tally::v0::jit
