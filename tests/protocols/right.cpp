// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every protocol as it is: no order of its steps, and none of the engine's, breaks a property.
#include "protocols/explorer.hpp"
#include "protocols/mutants.hpp"

#include <doctest/doctest.h>

using namespace protocols;

TEST_CASE("every protocol keeps every property, in every order, with one to four stages") {
  for (auto const& d : every_protocol) {
    std::size_t moments = 0;
    for (auto const& size : settings_of(d)) {
      writer const w(lists_of(d), size);
      explorer e(w.right());
      auto const found = e.run();
      CHECK_MESSAGE(!found.has_value(), std::string(d.name)
                                            << ", " << size.stages << " stages, " << size.tiles << " tiles: "
                                            << (found ? std::string(name_of(found->which)) + ": " + found->what : ""));
      moments += e.moments();
    }
    MESSAGE(std::string(d.name) << ": " << moments << " moments");
    CHECK(moments > 100);
  }
}

TEST_CASE("clusters of three blocks keep every property, too") {
  for (auto const& d : {cluster_words(), cluster_sum(), cluster_copy(), multicast_ring()}) {
    writer const w(lists_of(d), {2, 3, 3, 2, 1});
    explorer e(w.right());
    auto const found = e.run();
    CHECK_MESSAGE(!found.has_value(), std::string(d.name) << ": " << (found ? found->what : ""));
    CHECK(e.moments() > 1000);
  }
}

TEST_CASE("the parity of a tile's phase alternates from one turn of the ring to the next") {
  for (int stages : {1, 2, 3, 4, 7})
    for (int tile = 0; tile < 5 * stages; ++tile) {
      CHECK(stage_of(tile + stages, stages) == stage_of(tile, stages));
      CHECK(parity_of(tile + stages, stages) != parity_of(tile, stages));
    }
}

TEST_CASE("a data race is found whichever thread comes first") {
  // Reading without waiting, and waiting after reading: nobody gets lucky.
  auto wrong = lists_of(load_ring_of_warp());
  std::swap(wrong.lists[turn_list][0], wrong.lists[turn_list][1]);
  writer w(lists_of(load_ring_of_warp()), {2, 3, 1, 2, 1});
  auto const other = w.write(wrong);
  auto const found = explorer(other).run();
  REQUIRE(found.has_value());
  CHECK(found->which == property::data_has_arrived);
}
