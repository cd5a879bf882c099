// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What explain has to say, as plain data, and the explanation that shows it as text, JSON, Mermaid or PTX. Layer 3,
// host only. run/explain.hpp reads a reduction into a description; dsl/plan/ plans it, words it and renders it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <tally/plan/planner.hpp>

namespace tally::v0 {

/// One column of the source.
struct source_description {
  std::string name;          ///< "_1"
  std::string type;          ///< "f32"
  i64 bytes_per_element = 0; ///< handed to the folds; 0 where nothing is read
  i64 stride = 1;            ///< in elements
  int address_alignment = 16;
  int steps_alignment = 16; ///< of its rows, where it has axes
  i64 elements = 0;         ///< that it has, where it is seen alike along an axis; 0: as many as the source
  bool host_only = false; ///< only host code can produce its elements
  bool looked_up = false; ///< an answer of an earlier fold that an element finds by its place
  bool unnamed = false;   ///< and so not read
  bool staged = false;    ///< copied from host memory to the GPU before the launch
  std::string load;       ///< the load primitive, in words
  std::string why;        ///< the fact that chose it
};

/// How the CPU feeds the elements of a fold.
enum class host_lanes { registers, one_by_one, opaque };

/// One fold of the read, shown once however many answers look at it.
struct fold_description {
  std::string name; ///< "sum(_1 * _2)"
  int state_bytes = 0;
  laws law{};
  bool exact = false;    ///< a sum that keeps every bit
  std::string rounds_in; ///< "f32"; empty where the state is no single float
  bool host_only = false;
  host_lanes lanes = host_lanes::registers;
  std::string block;    ///< how the lanes of a block, or of a tile, meet
  std::string grid;     ///< how blocks, or tiles, meet
  std::string rounding; ///< the rounding points
};

/// A better-looking choice that was refused, with its numbers filled in.
struct refused_choice {
  std::string choice;
  std::string reason;
  std::string subject; ///< the source or fold it is about; empty: the whole plan
};

/// Names of folds, and of the columns that stand in them; none: lets have no names.
struct name_list {
  std::vector<std::string> folds, columns;
  name_list();
  name_list(name_list const&);
  ~name_list();
  void add_fold(std::string name);
  void add_column(std::string name);
  std::vector<std::string> const* of_columns() const { return columns.empty() ? nullptr : &columns; }
};

/// A reduction as the planner sees it, and what it made of it. Its members are compiled once, not in every user's file.
struct description {
  description();
  description(description const&);
  description(description&&) noexcept;
  description& operator=(description const&);
  ~description();
  void add_answer(std::string text);
  void add_source(source_facts const& f, std::string type, i64 bytes_per_element, bool host_only);
  void add_fold(fold_facts const& f, std::string name, std::string rounds_in, host_lanes lanes, bool host_only);

  std::string pipeline;
  std::vector<std::string> answers;
  std::vector<source_description> sources;
  std::vector<fold_description> folds;
  tally::v0::facts facts{}; ///< with the target that was planned for
  bool on_gpu = false;
  std::string place;        ///< "H200 (sm_90), 132 multiprocessors", "host, 8 threads"
  int threads = 1;          ///< of the host
  i64 leaves_per_tile = 1;  ///< of the host
  tally::v0::planned planned{}; ///< of the GPU
  std::vector<refused_choice> why_not;
  double measured_seconds = 0; ///< 0: not run
  double whole_seconds = 0;    ///< of the call that was measured, with staging and compiling
  /// The PTX of a plan for a target; null where no kernel can be made.
  std::string (*ptx_of)(plan const&, tally::v0::facts const&) = nullptr;

  /// False for an empty source and where no fold looks at an element (count alone is the extent).
  bool reads() const { return facts.extent > 0 && !folds.empty(); }
  /// What the folds get to see.
  i64 bytes_read() const;
  /// What memory has to deliver for it: whole sectors where elements lie apart.
  i64 bytes_moved() const;
  /// Seconds by the model launch + bytes moved / rate; 0 where the rate of the target is not known or nothing is read.
  double expected_seconds() const;
  /// Bytes read in the expected time, as a share of the target's rate.
  double expected_share_of_peak() const;
};

/// What would be done, and why; print it, or ask for one of its forms.
class explanation {
public:
  /// Plans and words a description.
  explicit explanation(description facts_and_names);
  explanation(explanation const&);
  explanation(explanation&&) noexcept;
  explanation& operator=(explanation const&);
  ~explanation();

  /// For people, at most about 25 lines.
  std::string text() const;
  /// For programs; docs/reference/explain.md lists the fields.
  std::string json() const;
  /// A Mermaid flowchart.
  std::string mermaid() const;
  /// The compiled kernel, empty where nothing is read; throws no_gpu for a plan of the host, no_nvrtc, no_headers,
  /// compile_failed.
  std::string ptx() const;
  /// Everything above, as data; of an explanation that nobody keeps, as a value.
  tally::v0::description const& details() const& { return about_; }
  tally::v0::description details() && { return std::move(about_); }
  /// The same plan with what a run took: seconds of the kernel (or of the tiles), and of the whole call.
  explanation measured(double seconds, double whole_seconds) const;

  operator std::string() const { return text(); }
  friend std::ostream& operator<<(std::ostream& out, explanation const& e);

private:
  tally::v0::description about_;
};

/// "H200 (sm_90), 132 multiprocessors" for the targets of plan/targets.hpp, else the architecture alone.
std::string describe(target const& t);

} // namespace tally::v0
