// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the machine code of a kernel against a protocol: whatever way control takes through the PTX, the instructions of
// the protocol come in the order of its data. Test layer.
//
// The text becomes a graph of instructions, the protocol an automaton that reads them, and both are walked together until
// no new pair of a place in the code and a set of places in the protocol is found. Steps that not all threads take may be
// skipped, but only as a whole; what a thread reads, stores or sends may be nothing. Before the first tile and after the
// last a kernel may use shared memory and meet as it likes.
#pragma once

#include <tally/primitive/protocols.hpp>

#include <algorithm>
#include <bitset>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace protocols {

using namespace tally::v0::protocol;

/// What of PTX a protocol speaks of. One action can be two words (a meeting of a cluster), two actions one (read, collect).
enum class word : unsigned char {
  none,
  init,
  fence_init,
  fence_proxy,
  meet_warp,
  meet_block,
  arrive_cluster,
  wait_cluster,
  arrive,
  expect,
  wait,
  load,
  load_for_all,
  store,
  store_sum,
  send,
  send_sum,
  send_words,
  commit,
  wait_source,
  wait_result,
  from_shared,
  to_shared
};

/// The word an instruction is.
inline word word_of(std::string_view i) {
  auto const has = [&](std::string_view part) { return i.find(part) != i.npos; };
  auto const is = [&](std::string_view start) { return i.starts_with(start); };
  if (is("mbarrier.init")) return word::init;
  if (is("mbarrier.arrive")) return has("expect_tx") ? word::expect : word::arrive;
  if (is("mbarrier.try_wait") || is("mbarrier.test_wait")) return word::wait;
  if (is("fence.mbarrier_init")) return word::fence_init;
  if (is("fence.proxy.async")) return word::fence_proxy;
  if (is("bar.warp.sync")) return word::meet_warp;
  if (is("bar.sync") || is("barrier.sync") || is("bar.cta.sync") || is("barrier.cta.sync")) return word::meet_block;
  if (is("barrier.cluster.arrive")) return word::arrive_cluster;
  if (is("barrier.cluster.wait")) return word::wait_cluster;
  if (is("cp.async.bulk.commit_group")) return word::commit;
  if (is("cp.async.bulk.wait_group.read")) return word::wait_source;
  if (is("cp.async.bulk.wait_group")) return word::wait_result;
  if (is("cp.async.bulk.shared") && has(".global.")) return has("multicast") ? word::load_for_all : word::load;
  if (is("cp.async.bulk.shared::cluster.shared::cta")) return word::send;
  if (is("cp.async.bulk.global.shared::cta")) return word::store;
  if (is("cp.reduce.async.bulk.global.shared::cta")) return word::store_sum;
  if (is("cp.reduce.async.bulk.shared::cluster.shared::cta")) return word::send_sum;
  if (is("red.async") && has("shared::cluster")) return word::send_words;
  if (is("ld.shared") || is("ld.volatile.shared")) return word::from_shared;
  if (is("st.shared") || is("st.volatile.shared")) return word::to_shared;
  return word::none;
}

/// The words of a step, in order; none for a step that is not an instruction of its own.
inline std::vector<word> words_of(action a) {
  switch (a) {
  case action::init: return {word::init};
  case action::fence_init: return {word::fence_init};
  case action::fence_proxy: return {word::fence_proxy};
  case action::meet_warp: return {word::meet_warp};
  case action::meet_block: return {word::meet_block};
  case action::meet_cluster: return {word::arrive_cluster, word::wait_cluster};
  case action::arrive: return {word::arrive};
  case action::expect: return {word::expect};
  case action::wait: return {word::wait};
  case action::load: return {word::load};
  case action::load_for_all: return {word::load_for_all};
  case action::store: return {word::store};
  case action::store_sum: return {word::store_sum};
  case action::send: return {word::send};
  case action::send_sum: return {word::send_sum};
  case action::send_words: return {word::send_words};
  case action::commit: return {word::commit};
  case action::wait_source: return {word::wait_source};
  case action::wait_result: return {word::wait_result};
  case action::read:
  case action::collect: return {word::from_shared};
  case action::write:
  case action::clear: return {word::to_shared};
  case action::nothing:
  case action::publish: return {};
  }
  throw std::logic_error("an action without words");
}

/// A kernel as a graph: of each instruction, its word and where control can go from it.
class code_graph {
public:
  struct node {
    word what = word::none;
    bool may_skip = false; ///< it has a predicate
    bool skip_if = false;  ///< the value of the predicate with which it is skipped
    bool jumps = false, ends = false;
    std::string predicate, text;
    std::vector<int> next;
  };

  /// Of the lines of a kernel's body, from the line with .entry on.
  explicit code_graph(std::vector<std::string> const& lines) {
    std::map<std::string, int> labels;
    std::vector<std::vector<std::string>> jumps;
    std::map<std::string, std::vector<std::string>> tables;
    for (auto const& line : lines) add(line, labels, jumps, tables);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (auto const& name : jumps[i]) {
        auto const table = tables.find(name);
        for (auto const& label : table == tables.end() ? std::vector{name} : table->second) {
          if (!labels.contains(label)) throw std::runtime_error("no label " + label);
          nodes[i].next.push_back(labels[label]);
        }
      }
  }
  /// Of a whole PTX text with one kernel.
  static std::vector<std::string> lines_of(std::string const& ptx) {
    auto const start = ptx.find(".entry");
    if (start == ptx.npos) throw std::runtime_error("no kernel");
    std::istringstream text(ptx.substr(start));
    std::vector<std::string> lines;
    int depth = 0; // inline assembly has braces of its own
    for (std::string line; std::getline(text, line);) {
      auto const bare = line.find_first_not_of(" \t");
      depth += bare != line.npos && line[bare] == '{' ? 1 : bare != line.npos && line[bare] == '}' ? -1 : 0;
      if (depth == 0 && bare != line.npos && line[bare] == '}') break;
      lines.push_back(line);
    }
    return lines;
  }
  /// A line without its comment, predicate and blanks.
  static std::string instruction_in(std::string line) {
    line = trim(line.substr(0, line.find("//")));
    return line.empty() || line[0] != '@' ? line : trim(line.substr(line.find_first_of(" \t")));
  }
  /// Whether control can come back to an instruction.
  bool comes_back(int place) const {
    std::vector<bool> seen(nodes.size() + 1);
    std::vector<int> open = nodes[std::size_t(place)].next;
    while (!open.empty()) {
      int const here = open.back();
      open.pop_back();
      if (here == place) return true;
      if (here >= int(nodes.size()) || seen[std::size_t(here)]) continue;
      seen[std::size_t(here)] = true;
      auto const& next = nodes[std::size_t(here)].next;
      open.insert(open.end(), next.begin(), next.end());
    }
    return false;
  }
  /// Whether a word is said again and again.
  bool repeats(word w) const {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].what == w && comes_back(int(i))) return true;
    return false;
  }
  long count(word w) const {
    return std::count_if(nodes.begin(), nodes.end(), [&](auto const& n) { return n.what == w; });
  }

  std::vector<node> nodes;

private:
  static std::string trim(std::string s) {
    s.erase(0, s.find_first_not_of(" \t{"));
    s.erase(s.find_last_not_of(" \t;") + 1);
    return s;
  }
  void add(std::string const& text, std::map<std::string, int>& labels, std::vector<std::vector<std::string>>& jumps,
           std::map<std::string, std::vector<std::string>>& tables) {
    auto line = trim(text.substr(0, text.find("//")));
    if (line.empty()) return;
    if (auto const colon = line.find(':'); line[0] == '$' && colon != line.npos) {
      labels[line.substr(0, colon)] = int(nodes.size());
      if (auto const t = line.find(".branchtargets"); t != line.npos) {
        std::istringstream list(line.substr(t + 14));
        for (std::string one; std::getline(list, one, ',');) tables[line.substr(0, colon)].push_back(trim(one));
      }
      return;
    }
    bool const predicate = line[0] == '@';
    bool const negated = predicate && line[1] == '!';
    std::string const which =
        predicate ? line.substr(negated ? 2 : 1, line.find_first_of(" \t") - (negated ? 2 : 1)) : std::string();
    line = instruction_in(line);
    if (line.empty() || line[0] < 'a' || line[0] > 'z') return;
    node n{word_of(line), predicate, negated, false, false, which, line, {}};
    auto const name = line.substr(0, line.find_first_of(" \t"));
    std::vector<std::string> to;
    bool const jump = name.starts_with("bra") || name.starts_with("brx");
    if (jump) to.push_back(trim(line.substr(line.find_last_of(" \t") + 1)));
    bool const ends = name == "ret" || name == "exit" || name == "trap" || jump;
    n.jumps = jump, n.ends = ends && !jump;
    if (!ends || predicate) n.next.push_back(int(nodes.size()) + 1);
    nodes.push_back(n);
    jumps.push_back(to);
  }
};

/// What is known of predicates on one way through the code, so that `if (p) a(); ... if (p) b();` is not read as a without
/// b. Known are only those that one instruction computes, at most once, and that more than one jump depends on.
class predicates {
public:
  using known = std::map<std::string, bool>;

  explicit predicates(code_graph const& code) {
    std::map<std::string, int> computed;
    for (std::size_t i = 0; i < code.nodes.size(); ++i) {
      auto const parts = parts_of(code.nodes[i].text);
      if (parts.size() < 2 || !parts[1].starts_with("%p")) continue;
      ++computed[parts[1]];
      bool const logic = parts[0] == "and.pred" || parts[0] == "or.pred" || parts[0] == "not.pred";
      made[parts[1]] = logic ? parts : std::vector<std::string>{};
      at[parts[1]] = int(i);
    }
    for (auto const& [name, times] : computed)
      if (times > 1 || code.comes_back(at[name])) made.erase(name);
    std::map<std::string, int> jumps;
    for (auto const& n : code.nodes)
      if (n.jumps && n.may_skip) count(n.predicate, jumps);
    for (auto const& [name, times] : jumps)
      if (times > 1) matters.insert(name);
  }
  /// 1 or 0 where it is known, else -1.
  int value(std::string const& name, known const& k) const {
    if (auto const here = k.find(name); here != k.end()) return here->second;
    auto const how = made.find(name);
    if (how == made.end() || how->second.empty()) return -1;
    auto const& parts = how->second;
    int const a = value(parts[2], k);
    if (parts[0] == "not.pred") return a < 0 ? -1 : !a;
    int const b = value(parts[3], k), decides = parts[0] == "or.pred";
    if (a == decides || b == decides) return decides;
    return a < 0 || b < 0 ? -1 : !decides;
  }
  void learn(std::string const& name, bool value, known& k) const {
    auto const how = made.find(name);
    if (how == made.end()) return;
    if (matters.contains(name)) k[name] = value;
    auto const& parts = how->second;
    if (parts.empty()) return;
    if (parts[0] == "not.pred")
      learn(parts[2], !value, k);
    else if (value == (parts[0] == "and.pred"))
      learn(parts[2], value, k), learn(parts[3], value, k);
  }

private:
  static std::vector<std::string> parts_of(std::string const& text) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < text.size();) {
      auto const end = std::min(text.find_first_of(" \t,", i), text.size());
      if (end > i) parts.push_back(text.substr(i, end - i));
      i = end + 1;
    }
    return parts;
  }
  void count(std::string const& name, std::map<std::string, int>& jumps) const {
    auto const how = made.find(name);
    if (how == made.end()) return;
    ++jumps[name];
    for (std::size_t i = 2; i < how->second.size(); ++i) count(how->second[i], jumps);
  }
  std::map<std::string, std::vector<std::string>> made;
  std::map<std::string, int> at;
  std::set<std::string> matters;
};

/// What reads the words of a protocol.
class automaton {
public:
  static constexpr int most = 128;
  using places = std::bitset<most>;

  explicit automaton(description const& d) {
    int const start = add();
    anything(start, start);
    int const set_up = list(d.setup, start), begin = add();
    free_steps.emplace_back(set_up, begin);
    anything(begin, begin); // before the first tile
    int const first = repeated(d.first, begin);
    int const turned = repeated(d.turn, first);
    last = list(d.finish, turned);
    if (d.setup[0].what == action::nothing)
      free_steps.emplace_back(last, begin); // a ring without barriers begins again
    int const after = add();
    free_steps.emplace_back(last, after);
    anything(after, after);
    last = after;
    now.set(std::size_t(start));
    follow(now);
  }
  places begin() const { return now; }
  places after(places const& from, word w) const {
    places to;
    for (auto const& [a, what, b] : steps)
      if (what == w && from.test(std::size_t(a))) to.set(std::size_t(b));
    follow(to);
    return to;
  }
  /// The protocol is over, or was never begun.
  bool may_end(places const& p) const { return p.test(std::size_t(last)) || p.test(0); }
  /// How many steps each word stands for, and how many more there are where tiles follow each other.
  std::map<word, int> const& needs() const { return needed; }
  std::map<word, int> const& needs_to_repeat() const { return needed_to_repeat; }

private:
  struct edge {
    int from;
    word what;
    int to;
  };
  int add() {
    if (count == most) throw std::logic_error("a longer protocol than the automaton has room for");
    return count++;
  }
  /// What a kernel does with shared memory when the protocol is not under way.
  void anything(int from, int to) {
    for (auto w : {word::from_shared, word::to_shared, word::meet_warp, word::meet_block})
      steps.push_back({from, w, to});
  }
  /// A part of a tile that is nothing for some threads, a phase before the first, a cluster without others.
  static bool may_be_left_out(step const& s) {
    return s.what == action::write || s.what == action::read || s.what == action::collect ||
           (s.what >= action::store && s.what <= action::send_words) || (s.what == action::wait && s.turns < 0) ||
           s.of == holder::each_other;
  }
  /// A step, and the same again: several columns, several barriers, a wait that goes round.
  int one_step(step const& s, int from) {
    int at = from;
    for (auto w : words_of(s.what)) {
      int const done = add(), to = add(); // two, so that who skips a step cannot repeat it
      steps.push_back({at, w, done});
      free_steps.emplace_back(done, to);
      bool const repeats = w != word::meet_warp && w != word::meet_block && w != word::expect && w != word::commit &&
                           w != word::arrive_cluster && w != word::wait_cluster;
      if (repeats) steps.push_back({done, w, done});
      ++(s.what == action::wait && s.turns < 0 ? needed_to_repeat : needed)[w];
      if (s.what == action::send_words) steps.push_back({at, word::from_shared, at}); // where the words come from
      at = to;
    }
    if (may_be_left_out(s)) free_steps.emplace_back(from, at);
    return at;
  }
  template <std::size_t N>
  int list(step const (&all)[N], int from) {
    std::vector<step> steps_of_list;
    for (auto const& s : all)
      if (s.what != action::nothing) steps_of_list.push_back(s);
    return people(steps_of_list, from, threads::all, blocks::every);
  }
  /// Steps of some threads of some blocks: what only a part of them takes can be skipped, but only as a whole. Cut where
  /// other threads or other blocks come, whichever gives fewer pieces.
  int people(std::vector<step> const& all, int from, threads who, blocks where) {
    auto const pieces = [&](auto same) {
      std::vector<std::vector<step>> out;
      for (auto const& s : all)
        if (out.empty() || !same(out.back().back(), s))
          out.push_back({s});
        else
          out.back().push_back(s);
      return out;
    };
    auto const by_threads = pieces([](step const& a, step const& b) { return a.who == b.who; });
    auto const by_blocks = pieces([](step const& a, step const& b) { return a.where == b.where; });
    int at = from;
    if (all.empty()) return at;
    bool const fewer =
        (by_threads.size() == 1 && all[0].who != who) || (by_blocks.size() == 1 && all[0].where != where);
    if (by_threads.size() == 1) who = all[0].who;
    if (by_blocks.size() == 1) where = all[0].where;
    if (by_threads.size() == 1 && by_blocks.size() == 1)
      for (auto const& s : all) at = one_step(s, at);
    else
      for (auto const& piece : by_blocks.size() == 1 || (by_threads.size() > 1 && by_threads.size() <= by_blocks.size())
                                   ? by_threads
                                   : by_blocks)
        at = people(piece, at, who, where);
    if (fewer) free_steps.emplace_back(from, at);
    return at;
  }
  template <std::size_t N>
  int repeated(step const (&all)[N], int from) {
    int const enter = add();
    free_steps.emplace_back(from, enter);
    int const end = list(all, enter);
    if (end != enter) free_steps.emplace_back(end, enter);
    return enter;
  }
  void follow(places& p) const {
    for (places before; before != p;) {
      before = p;
      for (auto const& [a, b] : free_steps)
        if (p.test(std::size_t(a))) p.set(std::size_t(b));
    }
  }

  int count = 0, last = 0;
  std::vector<edge> steps;
  std::vector<std::pair<int, int>> free_steps;
  std::map<word, int> needed, needed_to_repeat;
  places now;
};

/// Why the code does not follow the protocol; empty when it does on every way through it.
inline std::string disorder(code_graph const& code, description const& d) {
  automaton const protocol(d);
  auto needs = protocol.needs();
  if (code.repeats(word::expect))
    for (auto const& [w, steps] : protocol.needs_to_repeat()) needs[w] += steps;
  for (auto const& [w, steps] : needs)
    if (code.count(w) < steps) return "word " + std::to_string(int(w)) + " of the protocol is missing in the kernel";
  struct moment {
    int at;
    automaton::places places;
    predicates::known known;
  };
  predicates const logic(code);
  std::vector<moment> open{{0, protocol.begin(), {}}};
  std::set<std::tuple<int, std::string, predicates::known>> seen;
  while (!open.empty()) {
    auto const [at, places, known] = open.back();
    open.pop_back();
    if (!seen.emplace(at, places.to_string(), known).second) continue;
    if (seen.size() > 2'000'000) return "too many ways through the code";
    if (at >= int(code.nodes.size())) return "control leaves the text";
    auto const& n = code.nodes[std::size_t(at)];
    int const value = n.may_skip ? logic.value(n.predicate, known) : -1;
    bool const can_skip = n.may_skip && value != int(!n.skip_if), can_run = !n.may_skip || value != int(n.skip_if);
    auto with = known, without = known;
    if (n.may_skip) logic.learn(n.predicate, !n.skip_if, with), logic.learn(n.predicate, n.skip_if, without);
    auto const then = n.what == word::none ? places : protocol.after(places, n.what);
    if (can_run && then.none()) return "out of order: " + n.text;
    if (n.ends && can_run && !protocol.may_end(then)) return "ends in the middle of the protocol: " + n.text;
    for (int next : n.next) {
      bool const falls = next == at + 1;
      if (n.jumps && n.may_skip) { // a jump that is skipped falls through
        if (falls ? can_skip : can_run) open.push_back({next, places, falls ? without : with});
        continue;
      }
      if (can_run && !n.ends) open.push_back({next, then, with});
      if (can_skip) open.push_back({next, places, without});
    }
  }
  return {};
}

} // namespace protocols
