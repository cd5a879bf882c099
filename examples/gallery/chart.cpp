// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the reference is measured, and where the bars stand. Lengths are per cent of the width, letters are not, so the
// chart needs no second layout for phones. Gallery, no part of the library.
#include "chart.hpp"

#include "ink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace gallery {
namespace {

constexpr double row_height = 46;
constexpr double top = 34;

std::uint64_t sum_of(std::uint64_t const* first, std::uint64_t const* last) {
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
  for (; last - first >= 4; first += 4) a += first[0], b += first[1], c += first[2], d += first[3];
  for (; first != last; ++first) a += *first;
  return a + b + c + d;
}

} // namespace

double plain_read_gigabytes_per_second() {
  using clock = std::chrono::steady_clock;
  constexpr std::size_t count = std::size_t{256} << 20 >> 3;
  std::vector<std::uint64_t> const memory(count, 1);
  auto const threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<double> rates;
  for (int pass = 0; pass < 7; ++pass) {
    std::atomic<std::uint64_t> total{0};
    auto const start = clock::now();
    std::vector<std::thread> readers;
    for (std::size_t k = 0; k < threads; ++k)
      readers.emplace_back(
          [&, k] { total += sum_of(memory.data() + count * k / threads, memory.data() + count * (k + 1) / threads); });
    for (auto& reader : readers) reader.join();
    auto const seconds = std::chrono::duration<double>(clock::now() - start).count();
    rates.push_back(total == count ? double(count * sizeof(std::uint64_t)) / seconds / 1e9 : 0.0);
  }
  std::ranges::sort(rates);
  return rates[rates.size() / 2];
}

std::string chart_of(std::vector<bar> const& bars, double reference) {
  auto longest = reference;
  for (auto const& b : bars) longest = std::max(longest, b.gigabytes_per_second);
  auto const percent = [&](double rate) { return longest > 0 ? 82 * rate / longest : 0.0; };
  auto const height = top + row_height * double(bars.size()) + 6;

  auto svg = fmt::format(
      "<svg class=\"chart\" width=\"100%\" height=\"{:.0f}\" role=\"img\" aria-label=\"bandwidth of every lesson\">\n",
      height);
  auto y = top;
  for (auto const& b : bars) {
    auto const reach = percent(b.gigabytes_per_second);
    svg += fmt::format("<text x=\"0\" y=\"{:.0f}\" class=\"label\">{} <tspan class=\"side\">{}</tspan></text>\n",
                       y + 13, escaped(b.label), bytes_text(b.bytes));
    svg += fmt::format("<rect x=\"0\" y=\"{:.0f}\" width=\"{:.2f}%\" height=\"14\" rx=\"2\" class=\"bar\"/>\n", y + 20,
                       std::max(reach, 0.3));
    svg += fmt::format("<text x=\"{:.2f}%\" y=\"{:.0f}\" dx=\"6\" class=\"value\">{:.3g} GB/s</text>\n", reach, y + 32,
                       b.gigabytes_per_second);
    y += row_height;
  }
  if (reference > 0) {
    auto const at = percent(reference);
    auto const anchor = at > 50 ? "end" : "start";
    svg += fmt::format("<line x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" y1=\"24\" y2=\"{1:.0f}\" class=\"reference\"/>\n", at,
                       height);
    svg += fmt::format("<text x=\"{:.2f}%\" y=\"15\" text-anchor=\"{}\" class=\"side\">memory, read by a plain loop: "
                       "{:.3g} GB/s</text>\n",
                       at, anchor, reference);
  }
  return svg + "</svg>\n";
}

} // namespace gallery
