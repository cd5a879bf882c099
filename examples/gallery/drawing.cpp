// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Curves are SVG paths; images are BMP files inside the page, the one format that needs no compressor and that every
// browser shows. Gallery, no part of the library.
#include "drawing.hpp"

#include "ink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gallery {
namespace {

constexpr std::size_t most_points = 600;
constexpr std::size_t most_pixels = 320;

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    auto const octet = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u;
    };
    auto const group = octet(0) << 16 | octet(1) << 8 | octet(2);
    for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

/// A BMP file of 8 bits a pixel with a palette of greys, rows from the bottom up and padded to 4 bytes.
std::string bitmap(std::vector<std::uint8_t> const& grey, std::size_t width) {
  auto const height = grey.size() / width;
  auto const row = (width + 3) / 4 * 4;
  constexpr std::size_t start = 14 + 40 + 256 * 4;
  std::string file = "BM";
  auto const number = [&](std::size_t value, int bytes) {
    for (int k = 0; k < bytes; ++k) file += static_cast<char>(value >> 8 * k & 255);
  };
  number(start + row * height, 4), number(0, 4), number(start, 4);
  number(40, 4), number(width, 4), number(height, 4), number(1, 2), number(8, 2);
  number(0, 4), number(row * height, 4), number(2835, 4), number(2835, 4), number(256, 4), number(0, 4);
  for (std::size_t level = 0; level < 256; ++level) number(level | level << 8 | level << 16, 4);
  for (std::size_t y = height; y-- > 0;) {
    for (std::size_t x = 0; x < width; ++x) file += static_cast<char>(grey[y * width + x]);
    file.append(row - width, '\0');
  }
  return file;
}

/// One closed outline from the least values to the greatest, broken where there are none.
std::string outline_of(json const& points, double least, double greatest) {
  auto const height = [&](double v) { return greatest > least ? 96 - 92 * (v - least) / (greatest - least) : 50.0; };
  auto const step = 100.0 / double(std::max<std::size_t>(1, points.size() - 1));
  std::string path;
  for (std::size_t i = 0; i < points.size();) {
    auto end = i;
    while (end < points.size() && points[end].is_array()) ++end;
    for (auto k = i; k < end; ++k)
      path += fmt::format("{}{:.2f} {:.2f}", k == i ? "M" : "L", double(k) * step, height(points[k][1]));
    for (auto k = end; k-- > i;) path += fmt::format("L{:.2f} {:.2f}", double(k) * step, height(points[k][0]));
    if (end > i) path += "Z";
    i = end + 1;
  }
  return path;
}

std::string curve_of(json const& record) {
  auto const& points = part_at(record, "curve");
  auto least = HUGE_VAL, greatest = -HUGE_VAL;
  for (auto const& point : points) {
    if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number()) continue;
    least = std::min(least, point[0].get<double>()), greatest = std::max(greatest, point[1].get<double>());
  }
  if (least > greatest) return {};
  return fmt::format("<figure class=\"drawing wide\"><svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" role=\"img\">"
                     "<path d=\"{}\" class=\"curve\"/></svg><figcaption>{}, {:g} to {:g}</figcaption></figure>\n",
                     outline_of(points, least, greatest), escaped(text_at(record, "caption")), least, greatest);
}

} // namespace

json curve_record(std::span<float const> column, std::string_view caption) {
  auto points = json::array();
  auto const count = std::min(most_points, column.size());
  for (std::size_t i = 0; i < count; ++i) {
    auto least = HUGE_VALF, greatest = -HUGE_VALF;
    for (auto const v :
         column.subspan(column.size() * i / count, column.size() * (i + 1) / count - column.size() * i / count))
      if (!std::isnan(v)) least = std::min(least, v), greatest = std::max(greatest, v);
    points.push_back(least <= greatest ? json::array({least, greatest}) : json());
  }
  return {{"curve", points}, {"caption", caption}};
}

json image_record(std::span<std::uint8_t const> pixels, std::size_t width, std::string_view caption) {
  auto const side = std::max<std::size_t>(1, (width + most_pixels - 1) / most_pixels);
  auto const columns = width / side, rows = pixels.size() / width / side;
  std::vector<std::uint8_t> grey;
  for (std::size_t y = 0; y < rows; ++y)
    for (std::size_t x = 0; x < columns; ++x) {
      std::size_t light = 0;
      for (std::size_t k = 0; k < side * side; ++k)
        light += pixels[(y * side + k / side) * width + x * side + k % side];
      grey.push_back(static_cast<std::uint8_t>(light / (side * side)));
    }
  return {{"image", base64(bitmap(grey, columns))}, {"caption", caption}};
}

std::string drawing_of(json const& record) {
  if (auto const image = text_at(record, "image"); !image.empty())
    return fmt::format(
        "<figure class=\"drawing\"><img alt=\"\" src=\"data:image/bmp;base64,{}\"><figcaption>{}</figcaption>"
        "</figure>\n",
        escaped(image), escaped(text_at(record, "caption")));
  return curve_of(record);
}

} // namespace gallery
