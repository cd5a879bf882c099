// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every legal form has a typed verb that writes it, word for word, on the first chip that has it, with operands that
// assemble to machine code there. Needs NVRTC, no GPU.
#include "primitive/device_unit.hpp"
#include "primitive/form_of.hpp"
#include "primitive/verb_of.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace tally::primitive;

TEST_CASE("a form is read back from its mnemonic") {
  for (form const& f : verb_of::written_forms()) {
    auto const back = form_of::read(spell(f).c_str());
    REQUIRE_MESSAGE(back.has_value(), std::string(spell(f).c_str()));
    CHECK_MESSAGE(*back == f, std::string(spell(f).c_str()));
  }
  for (char const* other : {"redux.sync.add.s32", "cp.async.bulk.commit_group", "cp.async.bulk.wait_group.read",
                            "ld.global", "cp.async.bulk.tensor.1d.shared::cta.global", "red"})
    CHECK_MESSAGE(!form_of::read(other).has_value(), other);
}

TEST_CASE("every legal form is written by its verb") {
  if (!device_unit::can_compile()) return;
  for (short first : {short(80), short(90), short(100)}) {
    if (!device_unit::knows(first)) {
      std::printf("skipped: this NVRTC does not know sm_%d\n", int(first));
      continue;
    }
    std::vector<form> forms;
    std::vector<std::string> statements;
    for (form const& f : verb_of::written_forms())
      if (since(f) == first) forms.push_back(f), statements.push_back(verb_of::statement(f));
    std::string const architecture = "sm_" + std::to_string(first);
    auto const made = device_unit::compile(verb_of::unit(statements), architecture);
    REQUIRE_MESSAGE(!made.ptx.empty(), made.complaints);
    auto const found = form_of::read_all(made.ptx);
    long missing = 0;
    for (form const& f : forms)
      if (std::find(found.begin(), found.end(), f) == found.end() && ++missing <= 10)
        MESSAGE((architecture + " lacks " + spell(f).c_str()));
    CHECK(missing == 0);
    std::printf("%s: %zu forms written by their verbs\n", architecture.c_str(), forms.size() - std::size_t(missing));
  }
}
