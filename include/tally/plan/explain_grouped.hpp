// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What explain has to say about a reduction with groupings, as plain data: one domain for each grouping and one for all folds of the
// whole source, and the explanation that shows them. Layer 3, host only. run/explain_grouped.hpp reads a reduction into it;
// dsl/plan plans, words and renders it, one kind of domain a file.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <tally/plan/axes.hpp>
#include <tally/plan/explain.hpp>
#include <tally/plan/find_keys.hpp>
#include <tally/plan/host_axes.hpp>
#include <tally/plan/keys_beside.hpp>
#include <tally/plan/matrix_walk.hpp>
#include <tally/plan/mixed.hpp>
#include <tally/plan/rows_plan.hpp>
#include <tally/plan/segments.hpp>
#include <tally/plan/keys_in_any_order.hpp>
#include <tally/plan/turns.hpp>

namespace tally::v0 {

/// Where the groups of a domain are; elements are written, every one of them.
enum class grouping_kind { whole, axes, segments, keys, found_keys, elements };

/// Where a column of a domain comes from: it is one of the head's, answers of an earlier domain, or read by this domain alone.
enum class column_home { head, answers, apart };
struct column_origin {
  column_home home;
  int index; ///< of the head's column, or of the domain
};

/// One domain: a grouping, all folds of the whole, or the elements themselves. Its members are compiled once, not in every
/// user's file.
struct domain_description {
  domain_description();
  domain_description(domain_description const&);
  domain_description(domain_description&&) noexcept;
  domain_description& operator=(domain_description const&);
  ~domain_description();
  void add_origin(column_home home, int index);
  /// Says why elements and their lets are not one kernel; subject: the let that it is about.
  void refuse_rows(std::string reason, std::string subject);

  std::string name;          ///< "over<0>(sum(_1))"
  grouping_kind kind = grouping_kind::whole;
  description of;            ///< its columns, folds and facts; the extent is that of a group of axes, else of the source
  i64 groups = 1;            ///< -1: found while reading
  axes_layout at{};          ///< where its elements are
  i64 bytes_beside = 0;      ///< read beside the columns: offsets, and columns of those alone that share the read
  u32 columns_beside = 0;    ///< those columns, a bit each
  i64 bytes_of_answers = 0;  ///< of one group
  host_axes_facts on_host{}; ///< of axes: what decides how a host folds them
  bool shares_read = false;  ///< folded in the read of another domain
  int number_beside = -1;    ///< of keys that a GPU may fold in the read of another domain: their number among those; -1: it may not
  keys_beside_planned of_beside{}; ///< of those, where they are
  bool has_keys_beside = false; ///< its read folds such keys too
  std::string no_kernel;     ///< why only the host can fold it; empty where a GPU can
  std::string route;         ///< "threads_along_group", "strips of groups"
  std::string shape;         ///< the route in words
  std::string cut;           ///< who takes which part
  axes_planned planned{};    ///< of axes on a GPU
  segments_plan of_segments{}; ///< of segments on a GPU
  bool exact_rows = false;   ///< of axes: rows whose exact sums a GPU folds as those of segments
  bool is_counted = false;   ///< the device knows how many segments there are
  int number_in_turns = -1;  ///< of segments that may take turns with others: their number among those; -1: they may not
  bool takes_turns = false;  ///< in one launch with others
  keys_facts by_key{};       ///< of keys, but for what `of` and `at` hold
  keys_planned of_keys{};    ///< of keys on a GPU
  bool is_sorted = false;    ///< a GPU sorts the elements of keys, whatever they are: a fold needs their order
  std::vector<domain_description> exactly; ///< of keys under fast: the same with its folds as exact wants them, where a GPU may take those; one or none
  sorted_keys_planned of_sorted{}; ///< of keys on a GPU where it does
  sorted_rows_planned of_sorted_rows{}; ///< of keys on a GPU that sorts rows, because that is quicker
  partitioned_keys_planned of_partitions{}; ///< of keys on a GPU that partitions elements, because that is quicker
  u32 columns_of_key = 0;    ///< of keys that are found first, by a read of their own: the columns that it looks at, a bit each
  int key_bytes = 0;
  find_keys_planned of_search{}; ///< of that read on a GPU
  i64 blocks = 0;            ///< of the launch on a GPU
  std::vector<column_origin> origins; ///< of its columns; empty: they are those of the head
  bool is_let = false;                ///< later domains look at its answers
  written_facts written[max_answers]{}; ///< of elements
  int arrays = 0;
  elements_planned of_elements{}; ///< of elements on a GPU
  axes_facts rows{};              ///< of elements whose lets all fold their rows
  std::vector<refused_choice> no_rows; ///< why they do not, but for what their length says
  rows_planned of_rows{};         ///< of the kernel that they share with their lets
  std::vector<refused_choice> why_not;
  /// The PTX of its plan; null where no kernel can be made.
  std::string (*ptx_of)(domain_description const&) = nullptr;

  /// What the folds get to see, and what memory has to deliver for it: whole sectors where elements lie apart.
  i64 bytes_read() const;
  i64 bytes_moved() const;
  i64 bytes_written() const;
  /// Folds another domain in its read.
  void share_read_with(domain_description& other);
};

struct grouped_description;
/// A read of a matrix: what its planner knows, and its PTX; null where no kernel can be made.
struct matrix_read_description {
  mixed_facts facts{};
  std::string (*ptx_of)(grouped_description const&) = nullptr;
};

/// A reduction with groupings as the planner sees it, and what it made of it.
struct grouped_description {
  grouped_description();
  grouped_description(grouped_description const&);
  grouped_description(grouped_description&&) noexcept;
  grouped_description& operator=(grouped_description const&);
  ~grouped_description();
  void add(domain_description d);

  std::string pipeline;
  description head; ///< the columns, the place and why it is no other
  std::vector<domain_description> domains;
  std::vector<refused_choice> why_not; ///< of the reduction as a whole
  bool is_matrix = false; ///< there are columns or rows that one read on a GPU may fold together, and with folds of the whole and keys
  int columns = -1, rows = -1; ///< the domains of them
  int each = -1; ///< that of every matrix of a batch, the total of that read; -1: that is the whole, the last domain
  matrix_read_description mixed{}, alone{}; ///< their read with keys beside, and without, whose columns may be fewer
  mixed_planned joined{};
  matrix_walk_facts walk{}; ///< of the same on the host
  facts whole{}; ///< of the folds of the whole, or of a count, where a GPU may fold keys beside them or segments in turn
  planned of_whole{};
  std::string (*ptx_of_whole)(grouped_description const&) = nullptr; ///< of the read of both
  turns_planned in_turns{}; ///< of segments that take turns, with those of the whole or with each other
  std::string (*ptx_of_turns)(grouped_description const&) = nullptr;

  /// The domain that has the read of a matrix.
  domain_description& of_matrix() { return domains[static_cast<std::size_t>(columns >= 0 ? columns : rows)]; }
  /// Reads of the source.
  i64 passes() const;
  i64 bytes_read() const;
  i64 bytes_written() const;
  /// Seconds by the model launch + bytes moved / rate for every read; 0 where the rate of the target is not known.
  double expected_seconds() const;
};

/// What would be done with a reduction with groupings, and why; print it, or ask for one of its forms.
class grouped_explanation {
public:
  /// Plans and words a description.
  explicit grouped_explanation(grouped_description facts_and_names);

  /// For people: about eight lines a domain.
  std::string text() const;
  /// For programs; docs/reference/explain.md lists the fields.
  std::string json() const;
  /// A Mermaid flowchart.
  std::string mermaid() const;
  /// The compiled kernels, one after the other; throws as explanation::ptx().
  std::string ptx() const;
  /// Everything above, as data; of an explanation that nobody keeps, as a value.
  grouped_description const& details() const& { return about_; }
  grouped_description details() && { return std::move(about_); }

  operator std::string() const { return text(); }
  friend std::ostream& operator<<(std::ostream& out, grouped_explanation const& e);

private:
  grouped_description about_;
};

} // namespace tally::v0
