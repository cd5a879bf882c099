// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums of rows on a GPU have the bits of an exact accumulator on the host and of the loop of base/exact_unit.hpp,
// whichever way they go and in whatever order the rows come: rows of 1 to 600 columns, misaligned on either side, one hot
// row, no rows; what the unit does not let in refuses the table; and nothing beside a row is touched.
#include "gpu/primitive_kernel.hpp"

#include <tally/base/exact_unit.hpp>
#include <tally/fold/exact.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

using namespace tally::v0;

namespace {

char const text[] = R"device(
template <class T>
__global__ void add(i64* lanes, i32 const* keys, exact_unit<accumulator_t<T>> unit, u32* marks, bool larger, tile_of_rows<T> from,
                    int bytes_per_warp) {
  extern __shared__ __align__(128) unsigned char room[];
  exact_rows_by_key<T, i32> const to{lanes, keys, unit, marks, larger};
  if (bytes_per_warp > 0)
    accumulate_exactly_in_bulk(to, from, room, bytes_per_warp);
  else
    accumulate_exactly(to, from);
}
template <class T>
__global__ void file(i64* lanes, i32 const* keys, exact_unit<accumulator_t<T>> unit, u32* marks, tile_of_rows<T> from,
                     filed_rows filed) {
  file_rows(filed, exact_rows_by_key<T, i32>{lanes, keys, unit, marks}, from);
}
template <class T>
__global__ void gather(i64* lanes, i32 const* keys, exact_unit<accumulator_t<T>> unit, u32* marks, tile_of_rows<T> from,
                       filed_rows filed, T* table, i64 stride, i64 table_rows) {
  gather_exactly(table, stride, table_rows, filed, exact_rows_by_key<T, i32>{lanes, keys, unit, marks}, from);
}
template <class T>
__global__ void finish(i64* lanes, exact_unit<accumulator_t<T>> unit, u32* marks, T* table, i64 stride, i64 table_rows,
                       int columns) {
  finish_exactly(table, stride, table_rows, columns, lanes, unit, marks);
}
template <class T>
__global__ void refuse_all(u32 const* marks, T* table, i64 stride, i64 table_rows, int columns) {
  refuse_rows(table, stride, table_rows, columns, marks);
}
template <class T>
__global__ void largest(u64* bits, tile_of_rows<T> from) {
  find_largest(bits, from);
}
)device";

char const header[] = "tally/primitive/rows_gathered.cuh";

/// As the device has them.
template <class T>
struct tiled {
  T const* first;
  i64 rows, stride;
  int columns;
};
struct filed {
  u32 *counts, *rows;
  u32 per_key;
};

enum class way { red, bulk, small_bulk, gathered, gathered_without_room };
constexpr way ways[]{way::red, way::bulk, way::small_bulk, way::gathered, way::gathered_without_room};

/// Rows, where they go, and what is there before.
template <class T>
struct problem {
  int columns, rows, table_rows, table_offset, tile_offset;
  long table_stride, tile_stride;
  exact_unit<accumulator_t<T>> unit;
  std::vector<T> tile, table;
  std::vector<i32> keys;

  T& element(int r, int c) { return tile[std::size_t(tile_offset + r * tile_stride + c)]; }
  T element(int r, int c) const { return tile[std::size_t(tile_offset + r * tile_stride + c)]; }
  static std::size_t place(int offset, long stride, int k, int c) { return std::size_t(offset + k * stride + c); }

  problem shuffled(std::mt19937& random) const {
    std::vector<int> order(std::size_t(rows), 0);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    problem other = *this;
    for (int r = 0; r < rows; ++r) {
      int const from = order[std::size_t(r)];
      other.keys[std::size_t(r)] = keys[std::size_t(from)];
      for (int c = 0; c < columns; ++c) other.element(r, c) = element(from, c);
    }
    return other;
  }
};

/// Multiples of the unit of many magnitudes and both signs, up to the bound.
template <class T>
T some_multiple(accumulator_t<T> weight, accumulator_t<T> bound, std::mt19937& random) {
  using number = accumulator_t<T>;
  constexpr int bits = std::is_same_v<T, f16> ? 11 : std::is_same_v<T, bf16> ? 8 : std::is_same_v<T, float> ? 24 : 53;
  int const room = int(std::log2(double(bound / weight))) - bits;
  i64 const digits = i64((u64(random()) << 32 | random()) >> (64 - bits));
  number const x = std::ldexp(number(random() % 2 == 0 ? digits : -digits) * weight, room > 0 ? int(random() % unsigned(room + 1)) : 0);
  T const element = T(x);
  return std::abs(number(element)) <= bound ? element : T(number(0));
}

template <class T>
problem<T> a_problem(int columns, int rows, std::mt19937& random) {
  using number = accumulator_t<T>;
  int const per_16 = 16 / int(sizeof(T));
  auto const any = [&](int n) { return int(random() % unsigned(n)); };
  problem<T> p{};
  p.columns = columns, p.rows = rows;
  p.table_rows = any(3) == 0 ? 1 : 1 + any(20);
  p.table_offset = any(per_16), p.tile_offset = any(per_16);
  p.table_stride = columns + any(5), p.tile_stride = columns + any(5);
  if (any(3) == 0) {
    p.table_offset = p.tile_offset = 0;
    p.table_stride = p.tile_stride = (columns + per_16 - 1) / per_16 * per_16;
  }
  number const bound = std::is_same_v<T, f16> ? number(100) : number(std::ldexp(number(1) + number(any(100)) / 128, any(60) - 30));
  // f16 has no number below 2^-24; the unit may be finer than that.
  p.unit = exact_unit<number>::of(bound, rows);
  number const finest = std::is_same_v<T, f16> ? std::max(p.unit.weight, number(0x1p-24)) : p.unit.weight;
  p.tile.resize(std::size_t(p.tile_offset + rows * p.tile_stride) + 1);
  for (auto& x : p.tile) x = some_multiple<T>(finest, bound, random);
  p.table.resize(std::size_t(p.table_offset + p.table_rows * p.table_stride) + 1);
  for (auto& x : p.table) x = some_multiple<T>(finest, bound, random);
  p.keys.resize(std::size_t(rows) + 1);
  for (auto& k : p.keys) k = any(4) == 0 ? i32(random() % unsigned(p.table_rows)) : 0; // a hot row
  return p;
}

/// The sums by an accumulator that holds every bit of every number, each rounded once.
template <class T>
std::vector<T> by_wide_integers(problem<T> const& p) {
  using number = accumulator_t<T>;
  exact_sum_monoid<number, number, 1> const sum;
  auto answer = p.table;
  for (int k = 0; k < p.table_rows; ++k)
    for (int c = 0; c < p.columns; ++c) {
      auto state = sum.identity();
      for (int r = 0; r < p.rows; ++r)
        if (p.keys[std::size_t(r)] == k) sum.add(state, number(p.element(r, c)));
      if (state.sum == sum.identity().sum) continue;
      auto& to = answer[p.place(p.table_offset, p.table_stride, k, c)];
      sum.add(state, number(to));
      if constexpr (std::is_same_v<T, number>)
        to = sum.lower(state, {});
      else // the sum in f64 would round twice: odd in the end, then to T
        to = T(detail::rounded_to_odd(rounded<double>(state.sum, decltype(sum)::range::lowest)));
    }
  return answer;
}

template <class T>
struct answer {
  std::vector<T> table;
  u32 marks;
};

template <class T>
answer<T> by_host(problem<T> const& p) {
  answer<T> a{p.table, 0};
  std::vector<i64> lanes(std::size_t(p.table_rows * lanes_of_row(p.columns)) + 1);
  a.marks = add_rows_exactly(lanes.data(), p.tile.data() + p.tile_offset, p.tile_stride, p.rows, p.columns,
                             p.keys.data(), p.unit);
  a.marks = finish_rows_exactly(a.table.data() + p.table_offset, p.table_stride, p.table_rows, p.columns, lanes.data(),
                                p.unit, a.marks);
  return a;
}

template <class T>
class on_gpu {
public:
  answer<T> operator()(problem<T> const& p, way how) const {
    on_device const tile(p.tile), table(p.table);
    on_device const keys(p.keys);
    int const per_key = how == way::gathered ? (p.rows + 7) / 4 * 4 : 4;
    on_device const lanes(std::vector<i64>(std::size_t(p.table_rows * lanes_of_row(p.columns)) + 2, 0));
    on_device const counts(std::vector<u32>(std::size_t(p.table_rows), 0)), marks(std::vector<u32>(1, 0));
    on_device const rows(std::vector<u32>(std::size_t(p.table_rows * per_key), 0));
    tiled<T> const from{tile.data() + p.tile_offset, p.rows, p.tile_stride, p.columns};
    filed const under_keys{counts.data(), rows.data(), u32(per_key)};
    T* const to = table.data() + p.table_offset;
    tally::v0::gpu::launch_shape const few{.grid_blocks = 3, .block_threads = 128, .dynamic_shared_bytes = 0};
    if (how == way::gathered || how == way::gathered_without_room) {
      file_(few, lanes.data(), keys.data(), p.unit, marks.data(), from, under_keys);
      gather_(few, lanes.data(), keys.data(), p.unit, marks.data(), from, under_keys, to, i64(p.table_stride),
              i64(p.table_rows));
    } else {
      int const room = how == way::red ? 0 : how == way::bulk ? 8192 : 256;
      auto shape = few;
      shape.dynamic_shared_bytes = unsigned(4 * room);
      add_(shape, lanes.data(), keys.data(), p.unit, marks.data(), p.rows % 2 == 1, from, room);
      finish_(few, lanes.data(), p.unit, marks.data(), to, i64(p.table_stride), i64(p.table_rows), p.columns);
    }
    refuse_(few, static_cast<u32 const*>(marks.data()), to, i64(p.table_stride), i64(p.table_rows), p.columns);
    auto const left = lanes.back();
    auto const left_counts = counts.back();
    CHECK(std::all_of(left.begin(), left.end(), [](i64 x) { return x == 0; }));
    CHECK(std::all_of(left_counts.begin(), left_counts.end(), [](u32 x) { return x == 0; }));
    return {table.back(), marks.back()[0]};
  }

private:
  static primitive_kernel made(std::string const& name) { return {header, text, name + "<" + device_name<T>() + ">"}; }
  primitive_kernel const add_ = made("add"), file_ = made("file"), gather_ = made("gather"), finish_ = made("finish"),
                         refuse_ = made("refuse_all");
};

template <class T>
bool alike(std::vector<T> const& a, std::vector<T> const& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
void check(on_gpu<T> const& gpu, problem<T> const& p, way how, std::mt19937& random) {
  CAPTURE(device_name<T>());
  auto const expected = by_wide_integers(p);
  auto const host = by_host(p);
  bool const same_host = alike(host.table, expected) && host.marks == 0;
  CHECK_MESSAGE(same_host, "the host: " << p.rows << " rows of " << p.columns << ", marks " << host.marks);
  for (auto const& one : {p, p.shuffled(random)}) {
    auto const there = gpu(one, how);
    bool const same = alike(there.table, expected);
    CHECK_MESSAGE(same, "way " << int(how) << ", " << p.rows << " rows of " << p.columns << " to " << p.table_rows
                               << ", offsets " << p.table_offset << " and " << p.tile_offset << ", strides "
                               << p.table_stride << " and " << p.tile_stride);
    CHECK(there.marks == 0);
  }
}

template <class T>
void check_all_ways(std::vector<int> const& widths) {
  on_gpu<T> const gpu;
  std::mt19937 random(5u + unsigned(sizeof(T)));
  int const rows_of[]{0, 1, 3, 31, 33, 100, 257};
  for (int columns : widths)
    for (auto how : ways) check(gpu, a_problem<T>(columns, rows_of[random() % 7], random), how, random);
}

/// Every rung and the host refuse the problem, with the same marks, and leave nothing but NaN in the rows.
template <class T>
void check_refused(on_gpu<T> const& gpu, problem<T> const& p, u32 marks) {
  auto const refused = [&](answer<T> const& a, char const* who) {
    CHECK_MESSAGE(a.marks == marks, who);
    for (int k = 0; k < p.table_rows; ++k)
      for (int c = 0; c < p.columns; ++c) {
        auto const x = accumulator_t<T>(a.table[p.place(p.table_offset, p.table_stride, k, c)]);
        if (x == x) FAIL_CHECK(who << ": a number is left at " << k << ", " << c);
      }
  };
  refused(by_host(p), "host");
  for (auto how : ways) refused(gpu(p, how), ("way " + std::to_string(int(how))).c_str());
}

std::vector<int> all_up_to(int n) {
  std::vector<int> v(std::size_t(n), 0);
  std::iota(v.begin(), v.end(), 1);
  return v;
}

} // namespace

TEST_CASE("exact sums of rows of 1 to 600 floats have the bits of the host, in every order and by every way") {
  if (no_kernels()) return;
  check_all_ways<float>(all_up_to(600));
}

TEST_CASE("exact sums of rows of other types") {
  if (no_kernels()) return;
  std::vector<int> const widths{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 128, 255, 512, 600, 1025};
  check_all_ways<f16>(widths);
  check_all_ways<bf16>(widths);
  check_all_ways<double>(widths);
}

TEST_CASE("many rows to one key, exactly") {
  if (no_kernels()) return;
  on_gpu<float> const gpu;
  std::mt19937 random(17);
  for (auto how : ways) {
    auto p = a_problem<float>(33, 20'000, random);
    std::fill(p.keys.begin(), p.keys.end(), p.table_rows - 1);
    check(gpu, p, how, random);
  }
}

TEST_CASE("what a lane does not hold refuses the table") {
  if (no_kernels()) return;
  on_gpu<float> const gpu;
  std::mt19937 random(23);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (int columns : {1, 5, 32, 129})
    for (int repeat = 0; repeat < 4; ++repeat) {
      auto p = a_problem<float>(columns, 50, random);
      auto& one = p.element(int(random() % 50), int(random() % unsigned(columns)));
      auto const with = [&](float x, u32 marks) {
        float const was = std::exchange(one, x);
        check_refused(gpu, p, marks);
        one = was;
      };
      with(p.unit.weight / 2, finer_than_unit);
      with(-p.unit.weight * 1.5f, finer_than_unit);
      with(std::numeric_limits<float>::denorm_min(), finer_than_unit);
      with(std::nextafter(p.unit.bound, infinity), above_bound);
      with(repeat % 2 == 0 ? infinity : -infinity, above_bound);
      with(__builtin_nanf(""), above_bound);
    }
}

TEST_CASE("a number of the table that no lane holds is refused when a sum comes to it") {
  if (no_kernels()) return;
  on_gpu<float> const gpu;
  std::mt19937 random(29);
  auto p = a_problem<float>(12, 40, random);
  std::fill(p.keys.begin(), p.keys.end(), 0);
  for (int r = 0; r < p.rows; ++r) p.element(r, 3) = p.unit.weight;
  auto& total = p.table[p.place(p.table_offset, p.table_stride, 0, 3)];
  total = p.unit.weight / 2;
  check_refused(gpu, p, finer_than_unit);
  total = std::numeric_limits<float>::infinity();
  check_refused(gpu, p, above_bound);
  total = 32 * p.unit.bound; // above the bound of elements, and no harm: 40 rows may come to as much
  check(gpu, p, way::red, random);
}

namespace {
template <class T>
void largest_is_found() {
  using number = accumulator_t<T>;
  using bits = std::conditional_t<sizeof(number) == 8, u64, u32>;
  primitive_kernel const largest(header, text, "largest<" + device_name<T>() + ">");
  std::mt19937 random(31);
  for (int columns : {1, 3, 64, 129}) {
    auto p = a_problem<T>(columns, 77, random);
    number expected = 0;
    for (int r = 0; r < p.rows; ++r)
      for (int c = 0; c < columns; ++c) expected = std::max(expected, std::abs(number(p.element(r, c))));
    on_device const tile(p.tile);
    on_device const found(std::vector<u64>(1, 0));
    largest({.grid_blocks = 2, .block_threads = 96}, found.data(),
            tiled<T>{tile.data() + p.tile_offset, p.rows, p.tile_stride, columns});
    CHECK(bits_as<number>(bits(found.back()[0])) == expected);
  }
}
} // namespace

TEST_CASE("the largest size of a tile, for a bound that nobody declared") {
  if (no_kernels()) return;
  largest_is_found<float>();
  largest_is_found<f16>();
  largest_is_found<double>();
}
