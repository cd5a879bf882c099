// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One lesson of the gallery: it runs a pipeline, shows the plan, compares the answer with a plain loop, times it, and
// leaves a record for the page. Which of these happen, and in which order, is decided here. Gallery, no part of the
// library.
#pragma once

#include <tally/tally.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace gallery {

/// A number as the shortest text that reads back as the same number.
std::string text_of(float value);
std::string text_of(double value);

/// Anything else as `<<` prints it; small integers as numbers, not letters.
template <class Value>
  requires requires(std::ostream& out, Value const& value) { out << value; }
std::string text_of(Value const& value) {
  std::ostringstream text;
  if constexpr (std::integral<Value>)
    text << +value;
  else
    text << value;
  return std::move(text).str();
}

template <class Values>
  requires requires(Values const& v) { v.begin(), v.size(), v[0]; } && (!std::convertible_to<Values const&, std::string_view>)
std::string text_of(Values const& answers);

/// The answers of a pipeline with several folds, one after the other.
template <class... Values>
std::string text_of(std::tuple<Values...> const& answers) {
  std::string text;
  std::apply([&](auto const&... values) { ((text += (text.empty() ? "" : ", ") + text_of(values)), ...); }, answers);
  return text;
}

/// The first of many answers, and how many there are.
template <class Values>
  requires requires(Values const& v) { v.begin(), v.size(), v[0]; } && (!std::convertible_to<Values const&, std::string_view>)
std::string text_of(Values const& answers) {
  std::string text = std::to_string(answers.size()) + " of them";
  for (std::size_t i = 0; i < answers.size() && i < 3; ++i) text += (i == 0 ? ": " : ", ") + text_of(answers[i]);
  return text + (answers.size() > 3 ? ", ..." : "");
}

/// A plan in its spellings; for a GPU with what its kernel does to memory, or why there is no kernel.
struct shown_plan {
  std::string text, json, mermaid, kernel;
};

/// One pipeline as it was run, and the median time of a call.
struct measured_run {
  shown_plan plan;
  double seconds = 0;
};

/// One answer beside the one of a plain loop.
struct checked_answer {
  std::string what, answer, beside, loop, agreement;
  bool agrees = false;
};

/// A lesson from its title to its exit status. The number is the one in the name of the lesson's file.
class lesson {
public:
  lesson(std::string title, std::string idea, char const* file = __builtin_FILE());

  /// Prints the pipeline and its plan, runs it, times more runs of it, and gives the answer of the first. Where there is
  /// a GPU the same is done there, and the bits are compared; where there is none, the plan for an H200 is shown. A contract
  /// may follow the pipeline.
  template <class Pipeline, class... Contract>
  auto run(Pipeline const& pipeline, Contract... contract) {
    auto const answer = run_at(pipeline, tally::on::any, contract...);
    if constexpr (has_kernel<Pipeline, Contract...>()) {
      if (tally::on::gpu.device_count() == 0) {
        planned_for_another(shown(tally::explain(pipeline, tally::targets::h200, contract...)));
      } else {
        auto const there = run_at(pipeline, tally::on::gpu, contract...);
        auto const equal = text_of(answer) == text_of(there) && (!many_answers<Pipeline> || same_answers(answer, there));
        checked({"on the GPU", text_of(there), "on the CPU", text_of(answer), "equal bits", equal});
      }
    }
    return answer;
  }

  /// Checks that an answer equals the plain loop's, or what `beside` names, bit for bit.
  template <class Value>
  void same(std::string_view what, Value const& answer, std::type_identity_t<Value> const& loop,
            std::string_view beside = "plain loop") {
    bool equal = answer == loop;
    if constexpr (std::is_arithmetic_v<Value>) equal = std::memcmp(&answer, &loop, sizeof(Value)) == 0;
    checked({std::string{what}, text_of(answer), std::string{beside}, text_of(loop), "equal bits", equal});
  }

  /// Checks that an answer differs from the plain loop's by at most `relative` of it.
  void near(std::string_view what, double answer, double loop, double relative);

  /// Checks many answers, each bit for bit, or to within `relative` of the loop's.
  template <class Values, class Loop>
  void all_same(std::string_view what, Values const& answers, Loop const& loop) {
    checked({std::string{what}, text_of(answers), "plain loop", text_of(loop), "equal bits, all of them",
             std::equal(answers.begin(), answers.end(), loop.begin(), loop.end(), [](auto a, decltype(a) b) { return std::memcmp(&a, &b, sizeof a) == 0; })});
  }
  template <class Values, class Loop>
  void all_near(std::string_view what, Values const& answers, Loop const& loop, double relative) {
    checked({std::string{what}, text_of(answers), "plain loop", text_of(loop), "all within " + text_of(relative),
             std::equal(answers.begin(), answers.end(), loop.begin(), loop.end(), [&](auto a, auto b) {
               return std::abs(double(a) - double(b)) <= relative * std::abs(double(b)) || (std::isnan(a) && std::isnan(b));
             })});
  }

  /// Draws a column, or a grey image, on the lesson's page: what the numbers look like before they are folded.
  void draw(std::span<float const> column, std::string_view caption);
  void draw(std::span<std::uint8_t const> pixels, std::size_t width, std::string_view caption);

  /// A remark under the answers.
  void say(std::string remark);

  /// Prints the time, writes `build/gallery/<number>.json` and gives the exit status: 0 when every check agreed.
  int close();

private:
  /// Answers of which a text shows only some.
  template <class Pipeline>
  static constexpr bool many_answers = tally::v0::is_grouped<Pipeline> || tally::v0::is_collected<Pipeline>;

  static shown_plan shown(tally::explanation const& plan);
  static shown_plan shown(tally::grouped_explanation const& plan);

  template <class Pipeline, class... Contract>
  static constexpr bool has_kernel() {
    if constexpr (tally::v0::looks_back<Pipeline>)
      return tally::v0::detail::explainable_with_lets<Pipeline, tally::on::gpu_place, Contract...>;
    else if constexpr (tally::v0::is_grouped<Pipeline>)
      return tally::v0::detail::runnable_grouped<Pipeline, tally::on::gpu_place, Contract...>;
    else
      return decltype(tally::v0::bind(std::declval<Pipeline const&>()).program)::lowerable;
  }
  template <class Answers>
  static bool same_answers(Answers const& a, Answers const& b) {
    if constexpr (std::equality_comparable<Answers>)
      return a == b;
    else
      return true; // their texts agree
  }

  template <class Pipeline, class Place, class... Contract>
  auto run_at(Pipeline const& pipeline, Place place, Contract... contract) {
    explained({shown(tally::explain(pipeline, place, contract...)), 0});
    auto const answer = tally::run(pipeline, place, contract...);
    timed(median_seconds([&] { (void)tally::run(pipeline, place, contract...); }));
    return answer;
  }

  template <class Call>
  static double median_seconds(Call call) {
    using clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    auto const start = clock::now();
    while (seconds.size() < 5 || (seconds.size() < 501 && clock::now() - start < std::chrono::milliseconds{300})) {
      auto const before = clock::now();
      call();
      seconds.push_back(std::chrono::duration<double>(clock::now() - before).count());
    }
    return median_of(std::move(seconds));
  }

  static double median_of(std::vector<double> seconds);
  void explained(measured_run run);
  void planned_for_another(shown_plan plan);
  void timed(double seconds);
  void checked(checked_answer answer);

  std::string title_, idea_, file_, number_;
  std::vector<measured_run> runs_;
  std::vector<shown_plan> plans_for_others_;
  std::vector<checked_answer> answers_;
  std::vector<std::string> remarks_;
  std::vector<std::string> drawings_; // as JSON
};

} // namespace gallery
