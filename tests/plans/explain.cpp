// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// explain: where a reduction would go, what it says in each form, and that it never runs anything.
#include <tally/tally.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

using namespace tally::v0;
using nlohmann::json;

namespace {

bool says(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

json read(explanation const& e) { return json::parse(e.json()); }

std::vector<float> some_numbers(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = float(i % 1000) * 0.25f;
  return x;
}

bool refuses(explanation const& e, std::string const& choice, std::string const& part) {
  auto const& all = e.details().why_not;
  return std::any_of(all.begin(), all.end(), [&](auto const& r) { return r.choice == choice && says(r.reason, part); });
}

} // namespace

TEST_CASE("details of an explanation that nobody keeps outlive it") {
  std::vector<float> const x(10, 1.f);
  static_assert(std::is_same_v<decltype(explain(from(x) | sum, on::cpu).details()), description>);
  int folds = 0;
  for (auto const& fold : explain(from(x) | reduce(sum, max), on::cpu).details().folds) folds += fold.name.empty() ? 0 : 1;
  CHECK(folds == 2);
}

TEST_CASE("an explanation prints itself") {
  auto const x = some_numbers(1000);
  auto const e = explain(from(x) | sum);
  std::ostringstream out;
  out << e;
  std::string const converted = e;
  CHECK(out.str() == e.text());
  CHECK(converted == e.text());
  CHECK(e.text().starts_with("from(f32[1000]) | reduce(sum(_1))\n"));
}

TEST_CASE("without a place, explain names the place that run would take") {
  auto const x = some_numbers(1000);
  auto const e = explain(from(x) | sum);
  CHECK_FALSE(e.details().on_gpu);
  CHECK(refuses(e, "a GPU", gpu::device_count() == 0 ? "driver" : "host memory"));
}

TEST_CASE("a target is an argument: no GPU is needed to plan for one") {
  auto const x = some_numbers(100000);
  auto const r = from(x) | sum;
  CHECK(read(explain(r, targets::h200))["target"]["architecture"] == "sm_90");
  CHECK(read(explain(r, targets::b200))["target"]["architecture"] == "sm_100");
  CHECK(read(explain(r, targets::a100, fast))["contract"] == "fast");
  CHECK(read(explain(r, fast, targets::a100))["back_end"] == "gpu");
  CHECK(read(explain(r, targets::host))["back_end"] == "cpu");
  auto mine = targets::h200;
  mine.multiprocessors = 7;
  CHECK(says(explain(r, mine).text(), "sm_90, 7 multiprocessors"));
}

TEST_CASE("what holds a pipeline on the host is said, whatever the target") {
  auto const x = some_numbers(1000);
  auto const lambda = explain(from(x) | map([](float v) { return v * 2; }) | sum, targets::h200);
  CHECK_FALSE(lambda.details().on_gpu);
  CHECK(refuses(lambda, "a GPU", "no device text"));
  std::deque<float> const queue(10);
  auto const range = explain(from(queue) | sum, targets::h200);
  CHECK_FALSE(range.details().on_gpu);
  CHECK(refuses(range, "a GPU", "only host code"));
  CHECK(refuses(explain(from(x) | sum, on::cpu), "a GPU", "on::cpu"));
  CHECK(refuses(explain(from(x) | sum, targets::host), "a GPU", "target is the host"));
}

TEST_CASE("on::gpu is explained by a GPU or refused by a typed error") {
  auto const x = some_numbers(1000);
  if (gpu::device_count() == 0)
    CHECK_THROWS_AS(explain(from(x) | sum, on::gpu), no_gpu);
  else
    CHECK(explain(from(x) | sum, on::gpu).details().sources[0].staged);
}

TEST_CASE("bad input is refused as run refuses it") {
  auto const x = some_numbers(10), y = some_numbers(11);
  CHECK_THROWS_AS(explain(from(x, y) | reduce(sum(_1 * _2))), extent_mismatch);
  CHECK_THROWS_AS(explain(from(device(static_cast<float const*>(nullptr), 3)) | sum, targets::h200), null_column);
}

TEST_CASE("the JSON holds what the gallery and other programs read") {
  auto const x = some_numbers(1 << 20), y = some_numbers(1 << 20);
  auto const j = read(explain(from(x, y) | filter(_1 > 0.f) | reduce(sum(_1 * _2), max(_1)), targets::h200));
  CHECK(j["pipeline"] == "from(f32[1048576], f32[1048576]) | filter(_1 > 0) | reduce(sum(_1 * _2), max(_1))");
  CHECK(j["route"] == "full");
  CHECK(j["back_end"] == "gpu");
  CHECK(j["contract_reached"] == "reproducible");
  CHECK(j["lowered_by"].empty());
  CHECK(j["tree"]["id"] == "tree v1: 8 rows x 128 lanes");
  CHECK(j["bytes_read"] == 2 * 4 * (1 << 20));
  CHECK(j["expected_seconds"].get<double>() > targets::h200.launch_seconds);
  CHECK(j["expected_share_of_peak"].get<double>() < 1);
  REQUIRE(j["sources"].size() == 2);
  CHECK(j["sources"][1]["name"] == "_2");
  CHECK(j["sources"][1]["type"] == "f32");
  CHECK(j["sources"][1]["bytes_per_element"] == 4);
  CHECK(says(j["sources"][1]["load"], "vector_ldg"));
  REQUIRE(j["folds"].size() == 2);
  CHECK(j["folds"][0]["name"] == "sum(_1 * _2)");
  CHECK(j["folds"][0]["block"] == "neighbour_tree");
  CHECK(j["folds"][0]["grid"] == "ordered_partials");
  CHECK(says(j["folds"][0]["rounding"], "f32"));
  CHECK(says(j["folds"][1]["rounding"], "never"));
  for (char const* number : {"blocks", "threads_per_block", "leaves_per_warp"}) CHECK(j["launch"][number] > 0);
  CHECK(j["why_not"].size() > 0);
  for (auto const& r : j["why_not"]) {
    CHECK_FALSE(r["choice"].get<std::string>().empty());
    CHECK_FALSE(says(r["reason"], "{"));
  }
  CHECK(j["plan"].get<std::string>().starts_with("tally::v0::plan{"));
}

TEST_CASE("the host has tiles and threads, and no guess of its speed") {
  auto const x = some_numbers(1 << 20);
  auto const j = read(explain(from(x) | sum, on::cpu.threads(3)));
  CHECK(j["back_end"] == "cpu");
  CHECK(j["target"]["threads"] == 3);
  CHECK(j["launch"]["tiles"] == 16);
  CHECK(j["launch"]["threads"] == 3);
  CHECK(j["expected_seconds"].is_null());
  CHECK(j["folds"][0]["block"] == "vector registers");
}

TEST_CASE("a read too small to share stays on one thread unless more are asked for") {
  auto const x = some_numbers(1000);
  CHECK(read(explain(from(x) | sum, targets::host))["target"]["threads"] == 1);
  CHECK(read(explain(from(x) | sum, on::cpu.threads(5)))["target"]["threads"] == 5);
}

TEST_CASE("each fold is shown once, under the name of its first use") {
  auto const x = some_numbers(100);
  auto const e = explain(from(x) | reduce(mean, sum, (sum / count).or_else(0.f), max.maybe(), sum(_1).where(_1 > 2.f)));
  std::vector<std::string> names;
  for (auto const& f : e.details().folds) names.push_back(f.name);
  CHECK(names == std::vector<std::string>{"sum(_1)", "max(_1)", "sum(_1).where(_1 > 2)"});
  CHECK(e.details().answers.size() == 5);
  CHECK(e.details().answers[0] == "mean(_1)");
}

TEST_CASE("every leaf has a name, also that of a mean of 64-bit integers, whose sum is another than sum") {
  std::vector<i64> const x{1, 2, 6};
  std::vector<int> const k{0, 1, 0};
  auto const names_of = [](auto const& r) {
    auto const d = explain(r, targets::h200).details();
    std::vector<std::pair<std::string, int>> names;
    for (auto const& f : d.folds) names.emplace_back(f.name, int(f.state_bytes));
    return names;
  };
  using names = std::vector<std::pair<std::string, int>>;
  CHECK(names_of(from(x) | reduce(sum, mean)) == names{{"sum(_1)", 8}, {"sum(_1).in<f64>().checked()", 16}});
  CHECK(names_of(from(x) | reduce(mean, sum, sum.checked(), min)) == names{{"sum(_1).in<f64>().checked()", 16}, {"sum(_1)", 8}, {"sum(_1).checked()", 16}, {"min(_1)", 8}});
  CHECK(names_of(from(k) | reduce(sum(_1 * _1), mean(_1 * _1), mean)).size() == 3);
  CHECK(run_timed(from(x) | reduce(sum / count, mean)).explained.details().folds.size() == 2);
  CHECK(explain(from(x, k) | by_key(_2, 2, sum(_1), mean(_1)), targets::h200).text().find("16 B") != std::string::npos);
}

TEST_CASE("one refusal of several columns or folds is one line that names them") {
  auto const x = some_numbers(4000);
  auto const odd = device(x.data() + 1, 1000), odder = device(x.data() + 3, 1000);
  auto const text = explain(from(odd, odder) | reduce(sum(_1 * _2), max(_1)), targets::h200).text();
  CHECK(says(text, "vector load for _1, _2: the address is aligned to 4 bytes, a load needs 16\n"));
  CHECK(says(text, "cub::BlockReduce for both folds: "));
  CHECK(says(explain(from(x) | sum, targets::h200).text(), "cub::BlockReduce: its order"));
}

TEST_CASE("columns that lie apart move more bytes than are read") {
  auto const x = some_numbers(4000);
  auto const near = explain(from(every(x.data(), 1000, 2)) | sum, targets::h200).details();
  auto const far = explain(from(every(x.data() + 3999, 100, -40)) | sum, targets::h200).details();
  CHECK(near.bytes_read() == 4000);
  CHECK(near.bytes_moved() == 8000);
  CHECK(far.bytes_read() == 400);
  CHECK(far.bytes_moved() == 3200);
  CHECK(explain(from(x) | sum, targets::h200).details().bytes_moved() == 16000);
}

TEST_CASE("more bytes take longer, and a large read comes near the peak") {
  auto const seconds = [](i64 n) {
    return explain(from(device(reinterpret_cast<float const*>(0x1000), n)) | sum, targets::h200).details();
  };
  CHECK(seconds(1000).expected_seconds() < seconds(i64(1) << 24).expected_seconds());
  CHECK(seconds(i64(1) << 30).expected_share_of_peak() > 0.99);
  CHECK(explain(from(iota(1000)) | sum, targets::h200).details().expected_seconds() == 0);
}

TEST_CASE("a count of everything and an empty source read nothing") {
  auto const x = some_numbers(100);
  CHECK(run(from(x) | count) == 100);
  CHECK(read(explain(from(x) | count, targets::h200))["bytes_read"] == 0);
  CHECK(read(explain(from(x) | count, targets::h200))["route"] == "none");
  std::vector<float> const nothing;
  CHECK(read(explain(from(nothing) | sum, targets::h200))["launch"].empty());
  CHECK(explain(from(nothing) | sum, targets::h200).ptx().empty());
}

TEST_CASE("the Mermaid chart names every source and fold and closes every bracket") {
  auto const x = some_numbers(100);
  auto const chart = explain(from(x, x) | reduce(sum(_1 * _2), all(_1 < 3.f)), targets::h200).mermaid();
  CHECK(chart.starts_with("flowchart TD\n"));
  for (char const* part : {"source0", "source1", "fold0", "fold1", "block0", "grid0", "answers", "#lt; 3"})
    CHECK_MESSAGE(says(chart, part), part);
  for (char const* pair : {"()", "[]", "{}"})
    CHECK(std::count(chart.begin(), chart.end(), pair[0]) == std::count(chart.begin(), chart.end(), pair[1]));
  CHECK(std::count(chart.begin(), chart.end(), '"') % 2 == 0);
}

TEST_CASE("the PTX is of the chip that was named") {
  auto const x = some_numbers(100);
  CHECK_THROWS_AS(explain(from(x) | sum, on::cpu).ptx(), no_gpu);
  if (!gpu::can_compile()) {
    CHECK_THROWS_AS(explain(from(x) | sum, targets::h200).ptx(), no_nvrtc);
    return;
  }
  CHECK(says(explain(from(x) | sum, targets::h200).ptx(), ".target sm_90"));
  CHECK(says(explain(from(x) | sum, targets::a100).ptx(), ".target sm_80"));
}

TEST_CASE("TALLY_DUMP=plan:DIR keeps the text of every explanation") {
  auto const folder = std::filesystem::temp_directory_path() / ("tally_plans_" + std::to_string(getpid()));
  setenv("TALLY_DUMP", ("plan:" + folder.string()).c_str(), 1);
  auto const x = some_numbers(100);
  auto const text = explain(from(x) | sum, targets::h200).text();
  unsetenv("TALLY_DUMP");
  (void)explain(from(x) | max, targets::h200);
  std::vector<std::string> kept;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    std::stringstream all_of_it;
    all_of_it << file.rdbuf();
    kept.push_back(all_of_it.str());
  }
  std::filesystem::remove_all(folder);
  CHECK(kept == std::vector<std::string>{text});
}

TEST_CASE("run_timed gives the answers of run, and what they took beside the plan") {
  auto const x = some_numbers(1 << 20);
  auto const r = from(x) | reduce(sum, max, count);
  auto const timed = run_timed(r, on::cpu);
  CHECK(timed.answers == run(r, on::cpu));
  CHECK(timed.explained.details().measured_seconds > 0);
  CHECK(timed.explained.details().whole_seconds >= timed.explained.details().measured_seconds);
  CHECK(says(timed.explained.text(), "\nmeasured "));
  CHECK(read(timed.explained)["measured"]["gigabytes_per_second"].get<double>() > 0);
  CHECK_FALSE(says(explain(r, on::cpu).text(), "\nmeasured "));
  std::vector<float> const nothing;
  CHECK_THROWS_AS(run_timed(from(nothing) | max, on::cpu), empty_input);
}
