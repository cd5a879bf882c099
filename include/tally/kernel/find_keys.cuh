// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route that finds the keys of a read. Layer 4. One kernel in several launches: the table is cleared, every key of every element is
// put in, the keys are listed and sorted, and get their places in the list as numbers. The count of keys that were met says whether the
// table was large enough.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/key_table.hpp>
#include <tally/fold/keys.hpp>
#include <tally/kernel/keyed_walk.cuh>
#include <tally/kernel/sort_keys.cuh>
#include <tally/plan/keys_plan.hpp>

namespace tally::v0::kernel {

/// The entries of a table that all threads fill.
template <class Word>
struct cells_of_all {
  using word = cuda::std::conditional_t<sizeof(Word) == 8, unsigned long long, unsigned>;
  key_table<Word> table;
  u64* met;
  unsigned volatile* full; ///< in the memory of this block: it has seen that there are too many
  /// Past the first cache, which would go on to show an entry as it was.
  __device__ __forceinline__ Word look(u64 at) const { return *static_cast<Word const volatile*>(&table.entries[at].key); }
  __device__ __forceinline__ Word claim(u64 at, Word empty, Word key) const {
    return static_cast<Word>(atomicCAS(reinterpret_cast<word*>(&table.entries[at].key), word(empty), word(key)));
  }
  /// One thread counts for all beside it.
  __device__ __forceinline__ void count() const {
    unsigned const here = __activemask();
    if (int(threadIdx.x % 32) != __ffs(int(here)) - 1)
      return;
    auto const more = static_cast<unsigned long long>(__popc(here));
    if (atomicAdd(reinterpret_cast<unsigned long long*>(met), more) + more > table.most_keys())
      *full = 1;
  }
  __device__ __forceinline__ bool too_many() const { return *static_cast<u64 const volatile*>(met) > table.most_keys(); }
};

template <find_keys_plan P, class Where, class Program>
class key_finder;
template <find_keys_plan P, class Where, class... Columns>
class key_finder<P, Where, program<pack<Columns...>>> {
public:
  using Program = program<pack<Columns...>>;
  static constexpr u32 wanted = columns_of_key<Where>;
  using walk = keyed_walk<P.elements_per_load, P.loads_in_flight, wanted, Program, P.on_rows, P.standing, P.apart>;
  using key = cuda::std::remove_cvref_t<decltype(cuda::std::declval<Where const&>().key.eval(cuda::std::declval<walk const&>().row_at_position(0)))>;
  using word = key_word<key>;
  using table = key_table<word>;

  Where const& where;
  Program const& p;
  axes_layout const& at;
  key_search const& to;
  word volatile* known; ///< keys that this block has met; nobody's is that of none
  unsigned volatile* full;

  __device__ void clear(u64 thread, u64 threads) const {
    table const t = keys();
    for (u64 i = thread; i < t.entry_count(); i += threads)
      t.entries[i] = {t.empty(i), table::no_number};
    if (thread == 0)
      to.counts[0] = to.counts[1] = 0;
  }
  __device__ __forceinline__ void find() const {
    for (int i = int(threadIdx.x); i < P.keys_of_block; i += int(blockDim.x))
      known[i] = table::nobody;
    if (threadIdx.x == 0)
      *full = 0;
    __syncthreads();
    cells_of_all<word> const cells{keys(), to.counts, full};
    auto const more = [&] { return *full == 0; };
    auto const meet = [&](auto const& r, auto...) {
      if (where.mask.eval(r))
        put(static_cast<word>(where.key.eval(r)), cells);
    };
    walk const elements{p, at, i64(blockIdx.x), i64(gridDim.x)};
    if constexpr (P.in_order)
      elements.in_order(meet, more);
    else
      elements.place_by_place(meet, more);
  }
  /// A warp takes 32 entries at a time. What is behind the keys is the highest there is.
  __device__ void list(u64 thread, u64 threads) const {
    table const t = keys();
    auto* const words = static_cast<word*>(to.list);
    unsigned const lane = threadIdx.x % 32;
    for (u64 first = thread - lane; first < t.entry_count(); first += threads) {
      u64 const i = first + lane;
      word const held = i < t.entry_count() ? t.entries[i].key : word(0);
      bool const is_key = i < t.entry_count() && held != t.empty(i);
      unsigned const keys_here = __ballot_sync(~0u, is_key);
      unsigned long long begin = 0;
      if (lane == 0 && keys_here != 0)
        begin = atomicAdd(reinterpret_cast<unsigned long long*>(to.counts + 1), static_cast<unsigned long long>(__popc(keys_here)));
      begin = __shfl_sync(~0u, begin, 0);
      u64 const place = begin + static_cast<unsigned>(__popc(keys_here & ((1u << lane) - 1)));
      if (is_key && place < to.keys)
        words[place] = held;
    }
    for (u64 i = to.keys + thread; i < to.places; i += threads)
      words[i] = static_cast<word>(cuda::std::numeric_limits<key>::max());
  }
  __device__ void number(u64 thread, u64 threads) const {
    table const t = keys();
    for (u64 i = thread; i < to.keys; i += threads)
      if (auto* const e = t.find(static_cast<word const*>(to.list)[i]).entry; e != nullptr)
        e->number = static_cast<u32>(i);
  }

private:
  __device__ __forceinline__ table keys() const { return {static_cast<key_entry<word>*>(to.entries), to.mask}; }
  __device__ __forceinline__ void put(word k, cells_of_all<word> const& cells) const {
    word const hash = table::mixed(k);
    word volatile& first = known[hash % P.keys_of_block];
    word volatile& second = known[hash / P.keys_of_block % P.keys_of_block];
    word const held = first;
    if ((held == k || second == k) && k != table::nobody)
      return;
    if (!keys().put(k, cells))
      *full = 1;
    else if (held == table::nobody)
      first = k;
    else
      second = k;
  }
};

template <find_keys_plan P, class Where, class Program>
__global__ void __launch_bounds__(P.threads_per_block)
    find_keys(__grid_constant__ Where const where, __grid_constant__ Program const p, __grid_constant__ axes_layout const at,
              __grid_constant__ key_search const to, search_phase phase) {
  using finder = key_finder<P, Where, Program>;
  __shared__ typename finder::word known[P.keys_of_block];
  __shared__ unsigned full;
  finder const keys{where, p, at, to, known, &full};
  u64 const thread = u64(blockIdx.x) * blockDim.x + threadIdx.x, threads = u64(blockDim.x) * gridDim.x;
  key_sorter<typename finder::key> const sorter{to};
  switch (phase) {
  case search_phase::clear: keys.clear(thread, threads); break;
  case search_phase::put: keys.find(); break;
  case search_phase::list: keys.list(thread, threads); break;
  case search_phase::sort_chunks: sorter.in_chunk(known, 2, to.chunk); break;
  case search_phase::merge_far: sorter.far(thread, threads); break;
  case search_phase::merge_near: sorter.in_chunk(known, to.run, to.run); break;
  case search_phase::number: keys.number(thread, threads);
  }
}

} // namespace tally::v0::kernel
