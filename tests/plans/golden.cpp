// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What explain says about pipelines of every kind, word by word: golden/<name>.txt. TALLY_UPDATE_GOLDEN=1 writes the
// files anew; read the difference before committing it. Addresses are made up: explain looks at them, nobody reads.
#include "plans/made_up.hpp"
#include "fold/own_folds.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace tally;
using made_up::matrix, made_up::numbers;

namespace {

std::string const folder = TALLY_REPOSITORY "/tests/plans/golden";
std::set<std::string> visited;

bool updates() { return std::getenv("TALLY_UPDATE_GOLDEN") != nullptr; }

void check_text(std::string const& name, std::string const& text) {
  visited.insert(name);
  auto const path = folder + "/" + name;
  if (updates()) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  std::istringstream is(text);
  std::string line, agreed;
  for (int number = 1; std::getline(is, line); ++number) {
    REQUIRE_MESSAGE(bool(std::getline(file, agreed)), name << " ends before line " << number << ": " << line);
    REQUIRE_MESSAGE(line == agreed, name << ", line " << number << "\n     is: " << line << "\n  agreed: " << agreed);
  }
  CHECK_MESSAGE(!bool(std::getline(file, agreed)), name << " goes on: " << agreed);
}

/// The text is as agreed, and short and narrow enough to be read.
void check_plan(std::string const& name, explanation const& e) {
  check_text(name + ".txt", e.text());
  std::istringstream lines(e.text());
  std::string line;
  std::getline(lines, line); // the pipeline, as long as the user made it
  int more = 0;
  for (; std::getline(lines, line); ++more) CHECK_MESSAGE(line.size() <= 120, name << ": " << line);
  CHECK_MESSAGE(more <= 25, name);
}

/// The same of a reduction with groupings: each domain is a page of its own.
void check_plan(std::string const& name, grouped_explanation const& e) {
  check_text(name + ".txt", e.text());
  std::istringstream lines(e.text());
  std::string line;
  std::getline(lines, line);
  int more = 0;
  for (; std::getline(lines, line); ++more) CHECK_MESSAGE(line.size() <= 120, name << ": " << line);
  CHECK_MESSAGE(more <= 10 + 15 * int(e.details().domains.size()), name);
}

constexpr i64 ki = 1024, mi = ki * ki;

} // namespace

TEST_CASE("the sum of f32, from one block to many") {
  check_plan("sum_f32_1e3", explain(from(numbers<float>(1000)) | sum, targets::h200));
  check_plan("sum_f32_2p16", explain(from(numbers<float>(mi / 16)) | sum, targets::h200));
  check_plan("five_folds_2p15", explain(from(numbers<float>(mi / 32)) | reduce(sum, min, max, mean, variance), targets::h200));
  check_plan("cluster_of_words", explain(from(numbers<i32>(mi / 32)) | reduce(sum, min, max, mean), targets::h200));
  check_plan("sum_f32_2p20", explain(from(numbers<float>(mi)) | sum, targets::h200));
  check_plan("sum_f32_2p28", explain(from(numbers<float>(256 * mi)) | sum, targets::h200));
  check_plan("sum_f32_2p31_and_3", explain(from(numbers<float>(2048 * mi + 3)) | sum, targets::h200));
}

TEST_CASE("the same sum on other chips") {
  check_plan("sum_f32_2p28_a100", explain(from(numbers<float>(256 * mi)) | sum, targets::a100));
  check_plan("sum_f32_2p28_b200", explain(from(numbers<float>(256 * mi)) | sum, targets::b200));
}

TEST_CASE("an address that no vector load can take") {
  check_plan("sum_f32_misaligned", explain(from(numbers<float>(mi, 4)) | sum, targets::h200));
  auto const dot = from(numbers<float>(mi), numbers<float>(mi, 4)) | reduce(sum(_1 * _2));
  check_plan("dot_one_misaligned", explain(dot, targets::h200));
}

TEST_CASE("the fast contract") {
  auto const five = from(numbers<float>(256 * mi)) | reduce(sum, min, max, mean, variance);
  check_plan("sum_f32_fast", explain(from(numbers<float>(16 * mi)) | sum, targets::h200, fast));
  check_plan("five_folds_fast", explain(five, targets::h200, fast));
  check_plan("moments_f64_fast", explain(from(numbers<double>(256 * mi)) | reduce(moments<4>, variance), targets::h200, fast));
}

TEST_CASE("the exact contract") {
  auto const column = from(numbers<float>(256 * mi));
  check_plan("sum_f32_exact", explain(column | sum, targets::h200, exact));
  auto const r = from(numbers<float>(mi), numbers<float>(mi)) | reduce(sum(_1 * _2), mean(_1), sum(_1), max(_2));
  check_plan("dot_mean_max_exact", explain(r, targets::h200, exact));
  check_plan("moments_f32_exact", explain(column | moments<4>, targets::h200, exact));
  check_plan("host_sum_exact", explain(column | sum, on::cpu.threads(8), exact));
}

TEST_CASE("several folds in one read share what they can") {
  auto const five = from(numbers<float>(256 * mi)) | reduce(sum, min, max, mean, variance);
  check_plan("five_folds", explain(five, targets::h200));
  auto const r = from(numbers<float>(mi), numbers<float>(mi)) | filter(_1 > 0.f) |
                 reduce(sum(_1 * _2), max(_1), count, mean(_1), sum(_1 * _1) / count - mean * mean);
  check_plan("revenue", explain(r, targets::h200));
  check_text("revenue.json", explain(r, targets::h200).json() + "\n");
  check_text("revenue.mmd", explain(r, targets::h200).mermaid());
}

TEST_CASE("other element types") {
  check_plan("sum_u8", explain(from(numbers<u8>(16 * mi, 8)) | sum, targets::h200));
  check_plan("mean_f16", explain(from(numbers<f16>(16 * mi)) | mean, targets::h200));
  check_plan("minmax_bf16", explain(from(numbers<bf16>(16 * mi)) | minmax, targets::b200));
  check_plan("stddev_f64", explain(from(numbers<double>(16 * mi)) | stddev, targets::a100));
  check_plan("extremes_i32", explain(from(numbers<i32>(16 * mi)) | reduce(min, max), targets::h200));
  check_plan("integers_need_no_order", explain(from(numbers<i64>(16 * mi)) | reduce(sum, max, bit_xor), targets::h200));
}

TEST_CASE("columns of different kinds") {
  auto const third = every(numbers<i32>(1).column.data, mi, 3);
  check_plan("argmin_strided", explain(from(third) | argmin, targets::h200));
  check_plan("iota_alone", explain(from(iota(mi)) | reduce(sum(_1 * _1)), targets::h200));
  auto const r = from(numbers<double>(mi), numbers<float>(mi), numbers<i16>(mi)) |
                 reduce(sum(_1 * _2).where(_3 > 0), logsumexp(_2));
  check_plan("three_columns", explain(r, targets::a100));
}

TEST_CASE("a fold of the user's own that does not commute") {
  check_plan("own_fold", explain(from(numbers<float>(16 * mi)) | own_recurrence, targets::h200));
  check_plan("own_fold_fast", explain(from(numbers<float>(16 * mi)) | own_recurrence, targets::h200, fast));
  check_plan("matrices_fast", explain(from(numbers<u32>(16 * mi)) | own_matrices, targets::h200, fast));
}

TEST_CASE("the host") {
  auto const eight = on::cpu.threads(8);
  check_plan("host_sum", explain(from(numbers<float>(256 * mi)) | sum, eight));
  check_plan("host_lambda", explain(from(numbers<float>(mi)) | map([](float x) { return x * 2; }) | sum, eight));
  std::deque<float> const queue(1000);
  check_plan("host_deque", explain(from(queue) | reduce(sum, argmax), eight));
}

TEST_CASE("groupings, domain by domain") {
  auto const mixed = from(matrix<float>(8192, 4096)) | reduce(over<0>(sum), over<1>(mean, max), sum);
  check_plan("rows_columns_total", explain(mixed, targets::h200));
  check_plan("rows_columns_total_host", explain(mixed, on::cpu.threads(8)));
  check_text("rows_columns_total.json", explain(mixed, targets::h200).json() + "\n");
  check_text("rows_columns_total.mmd", explain(mixed, targets::h200).mermaid());
  auto const with_tables = from(matrix<float>(8192, 4096)) | reduce(over<0>(sum), over<1>(sum), histogram(0, 1, 256), by_key(index_along<0> % 64, 64, sum(_1)), sum);
  check_plan("image_in_one_read", explain(with_tables, targets::h200));
  check_text("image_in_one_read.json", explain(with_tables, targets::h200).json() + "\n");
  auto const products = from(matrix<float>(65536, 4096), along<1>(numbers<float>(4096)), along<0>(numbers<float>(65536)));
  check_plan("products_in_one_read", explain(products | reduce(over<1>(sum(_1 * _2)), over<0>(sum(_1 * _3))), targets::h200));
  check_plan("product_of_columns", explain(products | reduce(over<0>(sum(_1 * _3), max(_1 - _2))), targets::h200));
  check_plan("bilinear_form", explain(products | reduce(sum(_1 * _2 * _3)), targets::h200));
  check_plan("keys_beside_the_whole", explain(from(numbers<float>(mi), numbers<u32>(mi)) | reduce(sum(_1), by_key(_2, 1000, count), histogram(_1, 0, 1, 8)), targets::h200));
  check_plan("short_ragged_rows", explain(from(matrix<float>(100000, 7, 4)) | reduce(over<1>(sum, variance)), targets::h200));
  std::vector<i64> const offsets{0, 1000, mi};
  check_plan("segments", explain(from(numbers<float>(mi)) | reduce(by_segment(offsets, mean)), targets::h200));
  check_plan("segments_and_the_whole", explain(from(numbers<float>(mi)) | reduce(by_segment(offsets, mean), max(_1), by_segment(offsets, argmin)), targets::h200));
  auto const tables = from(numbers<float>(mi), numbers<i32>(mi)) | reduce(by_key(_2, 1000, sum(_1), count), by_key(_2, mi, max(_1)));
  check_plan("keys", explain(tables, targets::h200));
  check_plan("keys_fast", explain(tables, targets::h200, fast));
  auto const rows = from(matrix<float>(mi, 64), along<0>(numbers<i32>(mi))) | by_key<0>(_2, 100'000, sum(_1));
  check_plan("keyed_rows", explain(rows, targets::h200));
  check_plan("keyed_rows_fast", explain(rows, targets::h200, fast));
  check_plan("found_keys", explain(from(numbers<float>(mi), numbers<i32>(mi)) | reduce(group_by(_2, sum(_1), count)), targets::h200));
  check_plan("sorted_keys", explain(from(numbers<float>(mi), numbers<i32>(mi)) | reduce(by_key(_2, 1000, logsumexp(_1), sum(_1), count)), targets::h200));
  auto const keyed = from(numbers<float>(mi), numbers<i32>(mi)) | filter(_1 > 0.f) |
                     reduce(by_key(_2, 1000, sum(_1), count), histogram(_1, 0.f, 1.f, 64), group_by(_2, max(_1)));
  check_plan("keys_host", explain(keyed, on::cpu.threads(8)));
}

TEST_CASE("lets, in the kernel of the elements or before it") {
  auto const softmax = [](i64 n) {
    auto const rows = from(matrix<float>(4096, n));
    auto const greatest = rows | over<1>(max);
    auto const total = rows | map(exp(_1 - let(greatest))) | over<1>(sum);
    return rows | map(exp(_1 - let(greatest)) / let(total)) | collect;
  };
  check_plan("softmax", explain(softmax(1024), targets::h200));
  check_text("softmax.mmd", explain(softmax(1024), targets::h200).mermaid());
  check_plan("softmax_in_clusters", explain(softmax(128256), targets::h200));
  check_plan("softmax_of_long_rows", explain(softmax(524292), targets::h200));
  check_plan("softmax_host", explain(softmax(1024), on::cpu.threads(8)));
  auto const rows = from(matrix<float>(4096, 1024));
  auto const mu = rows | over<1>(mean);
  check_plan("deviations", explain(rows | over<1>(sum(squared(_1 - let(mu)))), targets::h200));
}

TEST_CASE("elements of turned matrices, through tiles") {
  auto const turned = [](i64 rows, i64 n) { return from(shaped(made_up::address<float>(0), {rows, n}, {1, rows})) | map(_1 * 2.f) | collect; };
  check_plan("turned_elements", explain(turned(4096, 8192), targets::h200));
  check_plan("turned_odd_elements", explain(turned(4096, 8191), targets::h200));
  check_plan("turned_narrow_elements", explain(turned(4096, 3), targets::h200));
}

TEST_CASE("nothing to read") {
  check_plan("empty", explain(from(numbers<float>(0)) | reduce(sum, max.or_else(0.f)), targets::h200));
  check_plan("count_alone", explain(from(numbers<float>(mi)) | count, targets::h200));
}

TEST_CASE("every golden file belongs to a case") {
  for (auto const& entry : std::filesystem::directory_iterator(folder))
    CHECK_MESSAGE(visited.contains(entry.path().filename().string()), entry.path().string());
}
