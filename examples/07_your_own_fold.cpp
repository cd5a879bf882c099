// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 7: a fold of your own, one whose order matters.
#include "gallery.hpp"

#include <algorithm>

/// A stretch of days: dry days at its start, at its end, the longest run inside, and its length.
TALLY_STRUCT(stretch, { int first, last, longest, days; });

TALLY_FUNCTION(one_day, (float rain), {
  int const dry = rain == 0 ? 1 : 0;
  return stretch{dry, dry, dry, 1};
});
TALLY_FUNCTION(one_after_the_other, (stretch a, stretch b), {
  int const across = a.last + b.first;
  int const inside = a.longest > b.longest ? a.longest : b.longest;
  return stretch{a.first == a.days ? a.days + b.first : a.first, b.last == b.days ? b.days + a.last : b.last,
                 across > inside ? across : inside, a.days + b.days};
});
TALLY_FUNCTION(longest_of, (stretch s), { return s.longest; });

int main() {
  using namespace tally;
  gallery::lesson lesson{"A fold of your own",
                         "The longest dry spell cannot be summed, but two neighbouring stretches of days can be joined "
                         "into one. That is a monoid: associative, not commutative. Say how to join, and the planner "
                         "may cut the days wherever it likes."};
  auto const rain = gallery::read_csv("seattle_weather.csv").numbers("precipitation");
  lesson.draw(rain, "rain a day, millimetres, 2012 to 2015");

  // the pipeline
  auto const longest_dry_spell =
      fold_of(stretch{0, 0, 0, 0}, one_after_the_other,
              one_day, longest_of, associative);
  auto const pipeline = from(rain) | reduce(longest_dry_spell);

  int spell = 0, longest = 0;
  for (auto const mm : rain) {
    spell = mm == 0 ? spell + 1 : 0;
    longest = std::max(longest, spell);
  }

  lesson.same("longest dry spell in Seattle, days", lesson.run(pipeline), longest);
  return lesson.close();
}
