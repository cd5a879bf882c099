// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The byte form of partials, version 1: magic, versions, kind, shape, extent, nodes and their states, checksum.
#include <tally/run/partial_bytes.hpp>

#include <tally/base/error.hpp>

#include <bit>
#include <cstring>
#include <string_view>

namespace tally::v0::partials {
namespace {

static_assert(std::endian::native == std::endian::little, "states are written as they lie in memory");

constexpr std::string_view magic = "tallypar";
constexpr std::size_t header_bytes = 80, node_bytes = 16, checksum_bytes = 8;

/// FNV-1a: finds damage, not forgery.
u64 hash_of(std::string_view bytes) {
  u64 h = 0xcbf29ce484222325u;
  for (char const c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}
u64 hash_of(std::span<std::byte const> bytes) {
  return hash_of(std::string_view(reinterpret_cast<char const*>(bytes.data()), bytes.size()));
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

class writer {
public:
  std::vector<std::byte> bytes;
  template <class T>
  void put(T value) {
    put(&value, sizeof value);
  }
  void put(void const* data, std::size_t n) {
    auto const* const from = static_cast<std::byte const*>(data);
    bytes.insert(bytes.end(), from, from + n);
  }
};

class reader {
public:
  explicit reader(std::span<std::byte const> bytes) : rest_(bytes) {}
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  std::span<std::byte const> rest() const { return rest_; }

private:
  std::span<std::byte const> rest_;
};

[[noreturn]] void refuse(std::string const& why) { throw bad_bytes("these bytes are no such partial: " + why + "."); }

template <class T>
void expect(T found, T wanted, char const* what) {
  if (found != wanted) refuse(std::string(what) + " is " + std::to_string(found) + ", not " + std::to_string(wanted));
}

/// The nodes cover the leaves of [begin, end), each once and in order.
void check_nodes(contents const& c) {
  if (c.begin < 0 || c.end < c.begin) refuse("the extent is impossible");
  if (c.any_order || c.begin == c.end) {
    expect<u64>(c.nodes.size(), c.begin == c.end ? 0 : 1, "the number of states");
    return;
  }
  i64 const elements = c.shape.elements(), leaves = (c.end - 1) / elements + 1;
  if (c.begin % elements != 0) refuse("it begins inside a leaf");
  i64 leaf = c.begin / elements;
  for (node const& n : c.nodes) {
    if (n.level < 0 || n.level > 62 || n.index < 0 || n.index > (leaves - 1) >> n.level || n.first_leaf() != leaf)
      refuse("its subtrees are not neighbours");
    leaf = n.end_leaf();
  }
  if (leaf != leaves) refuse("its subtrees do not cover its extent");
}

} // namespace

u64 kind_of(std::string spelling, std::string const& captured) {
  replace_all(spelling, "tally::v0::", "tally::");
  replace_all(spelling, "cuda::std::__4::", "cuda::std::");
  replace_all(spelling, "{anonymous}::", "(anonymous namespace)::");
  replace_all(spelling, "long long unsigned int", "unsigned long long");
  replace_all(spelling, "long long int", "long long");
  replace_all(spelling, "long unsigned int", "unsigned long");
  replace_all(spelling, "long int", "long");
  replace_all(spelling, "short unsigned int", "unsigned short");
  replace_all(spelling, "short int", "short");
  replace_all(spelling, " ", "");
  return hash_of(spelling + '\0' + captured);
}

std::vector<std::byte> encode(contents const& c) {
  writer w;
  w.put(magic.data(), magic.size());
  w.put(format_version);
  w.put(static_cast<u32>(tree_version));
  w.put(c.kind);
  w.put(static_cast<u32>(c.shape.group));
  w.put(static_cast<u32>(c.shape.rows));
  w.put(static_cast<u32>(c.any_order ? 1 : 0));
  w.put(u32{0});
  w.put(c.begin);
  w.put(c.end);
  w.put(static_cast<u64>(c.nodes.size()));
  w.put(static_cast<u64>(c.state_bytes));
  w.put(u64{0});
  for (node const& n : c.nodes) {
    w.put(n.index);
    w.put(static_cast<i64>(n.level));
  }
  w.put(c.states.data(), c.states.size());
  w.put(hash_of(w.bytes));
  return w.bytes;
}

contents decode(std::span<std::byte const> bytes, contents const& expected) {
  if (bytes.size() < header_bytes + checksum_bytes) refuse(std::to_string(bytes.size()) + " bytes are too few");
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) refuse("they do not begin with \"tallypar\"");
  reader r(bytes.subspan(magic.size()));
  expect(r.take<u32>(), format_version, "the version of the format");
  expect(r.take<u32>(), static_cast<u32>(tree_version), "the version of the tree");
  auto const body = bytes.first(bytes.size() - checksum_bytes);
  if (reader(bytes.last(checksum_bytes)).take<u64>() != hash_of(body)) refuse("the checksum is wrong");
  contents c = expected;
  if (r.take<u64>() != expected.kind) refuse("they are of another reduction, or of other captured values");
  expect(r.take<u32>(), static_cast<u32>(expected.shape.group), "the group of lanes");
  expect(r.take<u32>(), static_cast<u32>(expected.shape.rows), "the number of rows");
  expect(r.take<u32>(), expected.any_order ? 1u : 0u, "the freedom of order");
  expect(r.take<u32>(), 0u, "the word behind it");
  c.begin = r.take<i64>();
  c.end = r.take<i64>();
  auto const count = r.take<u64>();
  expect(r.take<u64>(), static_cast<u64>(expected.state_bytes), "the size of the states");
  expect(r.take<u64>(), u64{0}, "the word behind it");
  if (count > 128) refuse(std::to_string(count) + " subtrees are too many");
  expect<u64>(body.size() - header_bytes, count * (node_bytes + expected.state_bytes), "the number of bytes");
  c.nodes.clear();
  for (u64 i = 0; i < count; ++i) {
    auto const index = r.take<i64>();
    auto const level = r.take<i64>();
    c.nodes.push_back({index, level < 0 || level > 62 ? 63 : static_cast<int>(level)});
  }
  auto const states = r.rest().first(r.rest().size() - checksum_bytes);
  c.states.assign(states.begin(), states.end());
  check_nodes(c);
  return c;
}

} // namespace tally::v0::partials
