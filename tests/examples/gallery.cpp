// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the gallery promises the lessons: its data is what the data's README says, readers complain in one sentence, and a
// page is drawn from whatever a record holds. Runs in the root of the repository.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <gallery/chart.hpp>
#include <gallery/drawing.hpp>
#include <gallery/ink.hpp>
#include <gallery/kernel.hpp>
#include <gallery/picture.hpp>
#include <gallery/read.hpp>
#include <string>

using namespace gallery;

namespace {
template <class Call>
std::string complaint(Call call) {
  try {
    call();
  } catch (unreadable const& error) { return error.what(); }
  return "no complaint";
}
bool has(std::string const& text, std::string const& part) { return text.find(part) != text.npos; }
} // namespace

TEST_CASE("the flights are four columns of one length, missing values are NaN") {
  auto const distance = read_npy<std::int16_t>("flights_distance.npy");
  auto const arrival = read_npy<float>("flights_arr_delay.npy");
  CHECK(distance.size() == 336776);
  CHECK(read_npy<float>("flights_air_time.npy").size() == distance.size());
  CHECK(read_npy<float>("flights_dep_delay.npy").size() == distance.size());
  CHECK(arrival.size() == distance.size());
  CHECK(*std::min_element(distance.begin(), distance.end()) == 17);
  CHECK(*std::max_element(distance.begin(), distance.end()) == 4983);
  CHECK(std::count_if(arrival.begin(), arrival.end(), [](float x) { return std::isnan(x); }) == 9430);
}

TEST_CASE("every flight went to one of the airports") {
  auto const destination = read_npy<std::uint8_t>("flights_destination.npy");
  auto const airports = read_csv("flights_airports.csv").words("code");
  CHECK(destination.size() == 336776);
  CHECK(airports.size() == 105);
  CHECK(std::is_sorted(airports.begin(), airports.end()));
  CHECK(*std::max_element(destination.begin(), destination.end()) == 104);
}

TEST_CASE("the image and the tables have the rows their README names") {
  CHECK(read_npy<std::uint8_t>("hubble_deep_field.npy").size() == 872 * 1000);
  auto const weather = read_csv("seattle_weather.csv");
  CHECK(weather.numbers("temp_max").size() == 1461);
  CHECK(weather.words("date").front() == "2012/01/01");
  auto const co2 = read_csv("mauna_loa_co2.csv").numbers("co2");
  CHECK(co2.size() == 2284);
  CHECK(std::count_if(co2.begin(), co2.end(), [](float x) { return std::isnan(x); }) == 59);
}

TEST_CASE("a reader names the file and what is wrong with it") {
  CHECK(has(complaint([] { read_npy<float>("no_such.npy"); }), "no_such.npy: cannot be opened"));
  CHECK(has(complaint([] { read_npy<float>("flights_distance.npy"); }), "holds <i2, asked for <f4"));
  CHECK(has(complaint([] { read_npy<float>("seattle_weather.csv"); }), "is not a .npy file"));
  CHECK(has(complaint([] { read_csv("seattle_weather.csv").numbers("snow"); }), "has no column snow"));
  CHECK(
      has(complaint([] { read_csv("seattle_weather.csv").numbers("weather"); }), "line 2, column weather: 'drizzle'"));
  CHECK(has(complaint([] { table("t.csv", "a,b\n1,2\n3\n"); }), "line 3 has 1 fields, the first line has 2"));
  CHECK(has(complaint([] { table("t.csv", ""); }), "t.csv: is empty"));
}

TEST_CASE("an empty field is NaN and spaces at the end of a line are no column") {
  table const t{"t.csv", "a,b\r\n1,\r\n2.5,7\r\n"};
  CHECK(t.numbers("a") == std::vector{1.0f, 2.5f});
  CHECK(std::isnan(t.numbers("b")[0]));
  CHECK(t.numbers("b")[1] == 7.0f);
}

TEST_CASE("text of a record cannot become markup") {
  CHECK(escaped("a < b & \"c\"") == "a &lt; b &amp; &quot;c&quot;");
  CHECK(!has(coloured("x < 1 // <script>"), "<script>"));
  auto const plan = json{{"sources", {{{"name", "<script>"}}}}, {"folds", {{{"name", "</svg>"}}}}};
  auto const picture = picture_of(plan);
  CHECK(!has(picture, "<script>"));
  CHECK(picture.find("</svg>") == picture.rfind("</svg>"));
}

TEST_CASE("long words and long lines are broken to the width") {
  CHECK(wrapped("aa bb cc", 5) == std::vector<std::string>{"aa bb", "cc"});
  CHECK(wrapped("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(wrapped("", 3) == std::vector<std::string>{""});
}

TEST_CASE("a picture is drawn from any part of a plan, and from none") {
  CHECK(has(picture_of(json::object()), "<svg"));
  CHECK(has(picture_of(json(3)), "</svg>"));
  auto const plan = json{{"back_end", "gpu"},
                         {"folds", {{{"name", "sum"}, {"block", "shuffle"}}, {{"name", "max"}, {"block", "redux"}}}},
                         {"launch", {{"blocks", 264}, {"threads_per_block", 256}}}};
  auto const picture = picture_of(plan);
  for (auto const* part : {"every element enters 2 folds", "shuffle", "redux", "264 blocks", "2 answers"})
    CHECK(has(picture, part));
}

TEST_CASE("elements that are written are not folded, and a let in their kernel reads nothing") {
  auto const elements = picture_of(json{{"back_end", "gpu"}, {"kind", "elements"}, {"answers", {"_1", "_1 * 2"}}, {"launch", {{"blocks", 7}, {"threads_per_block", 256}}}});
  for (auto const* part : {"every element is written: 7 blocks of 256 threads", "2 arrays"})
    CHECK(has(elements, part));
  for (auto const* part : {"folds", "inside a block"})
    CHECK(!has(elements, part));
  auto const let = picture_of(json{{"shares_read", true}, {"bytes_read", 4096}});
  CHECK(has(let, "no read of its own"));
  CHECK(!has(let, "read once"));
}

TEST_CASE("the longest bar is the fastest, and the reference stands where it belongs") {
  auto const chart = chart_of({{"slow", 1e6, 10}, {"fast", 1e6, 40}}, 20);
  CHECK(has(chart, "width=\"82.00%\""));
  CHECK(has(chart, "width=\"20.50%\""));
  CHECK(has(chart, "x1=\"41.00%\""));
  CHECK(has(chart_of({}, 0), "</svg>"));
}

TEST_CASE("a curve keeps the least and the greatest of every stretch, and a gap where nothing was measured") {
  auto const nan = std::nanf("");
  auto const record = curve_record(std::vector{1.f, nan, 3.f}, "rain");
  CHECK(record["curve"] == json::parse("[[1, 1], null, [3, 3]]"));
  auto const drawing = drawing_of(record);
  CHECK(has(drawing, "rain, 1 to 3"));
  CHECK(std::count(drawing.begin(), drawing.end(), 'Z') == 2);
  CHECK(curve_record(std::vector<float>(100000, 2.f), "").at("curve").size() == 600);
  CHECK(drawing_of(curve_record({}, "")).empty());
}

TEST_CASE("a thumbnail is a bitmap of the averaged image") {
  std::vector<std::uint8_t> const pixels(640 * 4, 'A');
  auto const image = image_record(pixels, 640, "sky")["image"].get<std::string>();
  CHECK(image.substr(0, 8) == "Qk22BgAA"); // "BM" and 1718, its size
  auto const bytes = 14 + 40 + 1024 + 320 * 2;
  CHECK(image.size() == (bytes + 2) / 3 * 4);
  CHECK(has(image, "QUFBQUFB")); // "AAAAAA"
  CHECK(has(drawing_of(image_record(pixels, 640, "<sky>")), "&lt;sky&gt;"));
  CHECK(drawing_of(json(3)).empty());
}

TEST_CASE("of a kernel only what moves data is counted, guards and operands left out") {
  auto const ptx = "  ld.global.v4.u32 {%r1}, [%rd1];\n@%p1 bra L;\n\t@%p2 ld.global.v4.u32 %r2, [%rd2];\n"
                   "add.f32 %f1, %f2, %f3;\n  bar.sync 0;\n// ld.global.u8\nshfl.sync.bfly.b32 %r1|%p, %r2;";
  CHECK(traffic_of(ptx) == "    1 x bar.sync\n    2 x ld.global.v4.u32\n    1 x shfl.sync.bfly.b32\n");
  CHECK(traffic_of("").empty());
}
