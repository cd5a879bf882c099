// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key of few elements in one launch: the blocks of one cluster fold them in tables of their own, and each answers a part of the slots, of which it
// reads what the others have. Layer 4.
#pragma once

#include <tally/kernel/keyed_read.cuh>

namespace tally::v0::kernel {

/// Behind a block's table: its first stray position, as keyed_memory has it, and in the first block those of all.
struct told_in_cluster {
  u64 stray[3];
  u64 of_block[8];
};
static_assert(sizeof(told_in_cluster) <= bytes_told);

template <keys_plan P, class Where, class Program>
class keys_in_one_cluster;
template <keys_plan P, class Where, class Columns, class... Leaves>
class keys_in_one_cluster<P, Where, program<Columns, Leaves...>> : keyed_read<P, Where, program<Columns, Leaves...>> {
  using Read = keyed_read<P, Where, program<Columns, Leaves...>>;
  using Read::p, Read::to, Read::slots, Read::folds, Read::own_cells;
  static constexpr unsigned blocks = P.cluster_blocks;
  static_assert((true && ... && is_of_short_atomics<typename Leaves::monoid_type>), "nothing that overflows");
  static_assert(blocks * sizeof(u64) <= sizeof(told_in_cluster::of_block), "every block says what it met");
  told_in_cluster* told_;

public:
  __device__ __forceinline__ keys_in_one_cluster(Where const& bins, program<Columns, Leaves...> const& folded, axes_layout const& lies, keyed_memory const& own, char* table, told_in_cluster* told)
      : Read(bins, folded, lies, own, table), told_(told) {}

  template <class Nodes>
  __device__ __forceinline__ void run(Nodes const& nodes, answer_arrays const& out, u64* stray) const {
    if (threadIdx.x == 0)
      to.stray[0] = ~u64(0);
    Read::Table::open_own();
    Read::feed_all(Read::walk());
    meet_cluster();
    answer_part(nodes, out);
    if constexpr (!Where::drops_strays)
      tell_first_block();
    meet_cluster(); // nobody's memory goes while others read it
    if (rank_in_cluster() == 0 && threadIdx.x == 0)
      write(stray);
  }
  /// Bytes of the table of a block.
  __device__ __forceinline__ static i64 table_bytes(i64 slots) { return Read::Table::all_own_bytes() * slots; }

private:
  template <class Nodes>
  __device__ __forceinline__ void answer_part(Nodes const& nodes, answer_arrays const& out) const {
    unsigned const n = static_cast<unsigned>(slots), part = (n + blocks - 1) / blocks, first = rank_in_cluster() * part, left = first < n ? n - first : 0;
    for (unsigned j = threadIdx.x; j < part && j < left; j += blockDim.x) {
      typename Read::Program::states s;
      for_each_index<folds>([&](auto i) { get<i>(s) = this->template state_of_all<i>(first + j); });
      Read::answer(s, nodes, out, first + j);
    }
  }
  template <int I>
  __device__ __forceinline__ auto state_of_all(unsigned g) const {
    using own = typename Read::template cell<I, owner::block>;
    auto const& m = get<I>(p.leaves).monoid;
    auto s = own::read(own_cells(I), Read::own_slots(), g, m);
#pragma unroll
    for (unsigned k = 1; k < blocks; ++k)
      s = m.combine(s, own::read(memory_of_block((rank_in_cluster() + k) % blocks, own_cells(I)), Read::own_slots(), g, m));
    return s;
  }
  __device__ __forceinline__ void tell_first_block() const {
    __syncthreads();
    if (threadIdx.x == 0)
      reinterpret_cast<told_in_cluster*>(memory_of_block(0, reinterpret_cast<char*>(told_)))->of_block[rank_in_cluster()] = to.stray[0];
  }
  __device__ __forceinline__ void write(u64* stray) const {
    u64 first = ~u64(0);
    for (unsigned k = 0; !Where::drops_strays && k < blocks; ++k)
      first = told_->of_block[k] < first ? told_->of_block[k] : first;
    stray[0] = first;
    stray[1] = first != ~u64(0) ? Read::key_at(static_cast<i64>(first)) : 0;
    stray[2] = 0;
  }
};

/// Folds and answers; `table` is the block's shared memory, `stray` that of the read.
template <keys_plan P, class Where, class Program, class Nodes>
__device__ __forceinline__ void answer_in_one_cluster(Where const& where, Program const& p, axes_layout const& at, Nodes const& nodes, u64* stray, answer_arrays const& out, char* table) {
  using keys = keys_in_one_cluster<P, Where, Program>;
  auto* const told = reinterpret_cast<told_in_cluster*>(table + told_behind(keys::table_bytes(where.bins * at.groups)));
  keyed_memory own{};
  own.stray = told->stray;
  keys(where, p, at, own, table, told).run(nodes, out, stray);
}

} // namespace tally::v0::kernel
