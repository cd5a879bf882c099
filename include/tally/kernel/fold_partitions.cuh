// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key of elements that are partitioned by slot. Layer 4. A block takes a share of a partition, what some neighbouring tiles have of it, folds
// it in a table of that partition in shared memory, and gives the table to that of all; then it takes the next share that nobody has. One kernel in a
// launch for each phase; the elements behind the last whole load are added in that of `meet`. Where a sample says that keys come in runs nothing is
// partitioned: a warp whose elements have one slot adds once, and elements are folded as they come.
#pragma once

#include <tally/fold/slots.hpp>
#include <tally/kernel/keyed_read.cuh>
#include <tally/kernel/partition.cuh>

namespace tally::v0::kernel {

template <partitioned_keys_plan P, class Where, class Program>
class partitions_fold;
template <partitioned_keys_plan P, class Where, class... Columns, class... Leaves>
class partitions_fold<P, Where, program<pack<Columns...>, Leaves...>> : public keyed_read<P.table, Where, program<pack<Columns...>, Leaves...>, P.slots_of_partition> {
  using Program = program<pack<Columns...>, Leaves...>;
  using Read = keyed_read<P.table, Where, Program, P.slots_of_partition>;
  using Table = typename Read::Table;
  using travelling = travelling_columns<Program>;
  static constexpr int threads = P.table.threads_per_block, warps = threads / 32, elements = P.elements_of_tile();
  static constexpr int run = P.threads_per_run, runs = 32 / run, U = P.tiles_in_flight;
  static_assert(threads == threads_of_partitions, "a thread for every partition");

  /// Where the tiles are, in 32 bits: a part has less than 2^32 bytes.
  struct tiles_of_part {
    u16 const* words;
    u32 count, words_of_tile, slots_at;
    pack<Columns...> columns; ///< those that travelled, as they lie in the first tile; others are where they were
  };
  /// What of one tile a thread takes next, and where that ends.
  struct place_in_tile {
    u32 tile, at, to;
    __device__ __forceinline__ bool is_there() const { return at < to; }
  };

public:
  slot_partitions const& from;
  __device__ __forceinline__ partitions_fold(Where const& where, Program const& folded, axes_layout const& lies, slot_partitions const& partitions,
                                             keyed_memory const& memory, char* room)
      : Read(where, folded, lies, memory, room), from(partitions) {}

  __device__ __forceinline__ void open(i64 thread, i64 threads_of_grid) {
    Read::open(thread, threads_of_grid);
    for (i64 k = thread; k < from.words; k += threads_of_grid)
      from.counts[k] = 0;
    if (blockIdx.x == 0)
      look_for_runs();
  }

  __device__ __forceinline__ void fold() {
    if (*from.in_runs != 0) {
      if (from.is_first())
        keyed_read<P.in_runs, Where, Program>(this->where, this->p, this->at, this->to, this->table).fold();
      return;
    }
    Table::aim();
    auto& room = *reinterpret_cast<room_of_shares*>(this->table + Table::all_own_bytes() * P.slots_of_partition);
    auto const tiles = find_tiles();
    number_shares(room);
    for (;;) {
      if (threadIdx.x == 0)
        room.next = atomicAdd(from.counts + from.partitions, 1u);
      Table::open_own();
      bool const is_whole = room.next < room.whole_count;
      u32 const share = room.next - room.whole_count;
      if (!is_whole && share >= room.before[from.partitions])
        break;
      u32 const partition = is_whole ? room.whole[room.next] : u32(first_not_below([&](i64 k) { return room.before[k + 1]; }, from.partitions, i64(share) + 1));
      this->first = from.first_slot + partition * P.slots_of_partition;
      fold_share(tiles, partition, is_whole ? 0 : share - room.before[partition], is_whole ? 1 : room.before[partition + 1] - room.before[partition], room);
      Table::give_own();
      __syncthreads(); // other threads gave what this one empties next
    }
  }
  /// Elements that are no whole load.
  __device__ __forceinline__ void fold_rest() {
    Table::aim();
    i64 const rest = *from.in_runs != 0 ? 0 : this->at.extent % P.elements_per_load;
    if (blockIdx.x == 0 && i64(threadIdx.x) < rest) {
      auto const r = Read::walk().row_of_number(this->at.extent - rest + threadIdx.x);
      if (i64 const bin = bin_of(this->where, r, this->to.stray); bin >= 0)
        Table::template add_to<owner::all>(r, this->slots, bin, [&](int i) { return Table::cells_of(i); }, bin);
    }
  }

private:
  /// Whether neighbours have one slot, mostly; those that have none are passed over. All threads of a block call it.
  __device__ __forceinline__ void look_for_runs() const {
    auto& met = *reinterpret_cast<runs_met*>(this->table);
    if (threadIdx.x == 0)
      met = {0, 0};
    __syncthreads();
    i64 const apart = (this->at.extent - elements_of_probe) / probes_of_runs;
    for (int k = int(threadIdx.x); k < probes_of_runs; k += threads) {
      i64 const e = k * apart + scattered(u32(k)) % apart;
      i64 const first = bin_at_or_beside(e, 1), last = bin_at_or_beside(e + elements_of_probe - 1, -1);
      if (first >= 0 && last >= 0)
        atomicAdd(&met.probes, 1u), atomicAdd(&met.same, u32(first == last));
    }
    __syncthreads();
    if (threadIdx.x == 0)
      *from.in_runs = met.come_in_runs() ? 1 : 0;
  }
  /// The bin of an element, or of the next of a few in that direction that has one, else -1.
  __device__ __forceinline__ i64 bin_at_or_beside(i64 e, int direction) const {
#pragma unroll 1
    for (int k = 0; k < elements_of_probe / 4; ++k)
      if (auto const in = look_at(this->where, this->p.row_at(e + k * direction)); in.inside)
        return in.bin;
    return -1;
  }
  /// Says what is taken at once. Partitions of which a block folds two or more are taken whole, so that one gives their slots, as many by each block; the others by
  /// shares, with which blocks end together.
  __device__ __forceinline__ void number_shares(room_of_shares& room) const {
    bool const has_partition = int(threadIdx.x) < from.partitions, is_last = int(threadIdx.x) == threads - 1;
    u32 const count = has_partition ? from.counts[threadIdx.x] : 0, share = static_cast<u32>(from.share);
    u32 const shares = (count + share - 1) / share, in_front = sum_in_front(shares, room.sums);
    if (is_last)
      room.shares = in_front + shares;
    __syncthreads();
    bool const is_short = shares > 0 && shares <= room.shares / (2 * gridDim.x) + 1;
    u32 const number = sum_in_front(u32(is_short), room.sums);
    if (is_last)
      room.whole_count = (number + is_short) / gridDim.x * gridDim.x;
    __syncthreads();
    bool const is_whole = is_short && number < room.whole_count;
    if (is_whole)
      room.whole[number] = static_cast<u16>(threadIdx.x);
    u32 const shared = is_whole ? 0 : shares, before = sum_in_front(shared, room.sums);
    if (has_partition)
      room.before[threadIdx.x] = before;
    if (int(threadIdx.x) == from.partitions - 1)
      room.before[from.partitions] = before + shared;
  }
  __device__ __forceinline__ tiles_of_part find_tiles() const {
    partitioned_tile const tile{from.partitions, elements, travelling::bytes};
    tiles_of_part all{reinterpret_cast<u16 const*>(from.tiles), u32((from.end - from.first - 1) / elements + 1), u32(tile.bytes() / 2), u32(tile.slots_at() / 2),
                      this->p.columns};
    for_each_index<travelling::count>([&](auto c) {
      if constexpr (travelling::has(c))
        get<c>(all.columns).data =
            reinterpret_cast<typename nth_t<c, Columns...>::value_type const*>(from.tiles + tile.columns_at() + i64(elements) * travelling::bytes_before(c));
    });
    return all;
  }
  /// Warps that share what a partition has in one tile: a power of two, so that each has some loads of it.
  __device__ __forceinline__ static u32 warps_of_tile(u32 run_elements) {
    u32 n = 1;
    while (n < warps && 4 * n * run <= run_elements)
      n *= 2;
    return n;
  }
  /// What every parts-th tile has of a partition. Where it has far more in a tile than in others, all threads of the block take that.
  __device__ __forceinline__ void fold_share(tiles_of_part const& tiles, u32 partition, u32 part, u32 parts, room_of_shares& room) const {
    u32 const share = (tiles.count - part + parts - 1) / parts, warps_beside = warps_of_tile(from.counts[partition] / tiles.count);
    for (u32 first = 0; first < share; first += threads) {
      if (threadIdx.x == 0)
        room.far_count = 0;
      __syncthreads();
      u32 const left = share - first, tile = part + first * parts;
      fold_tiles(tiles, partition, tile, parts, left < threads ? left : threads, warps_beside, room);
      __syncthreads();
      for (u32 k = 0; k < room.far_count; ++k)
        fold_far(tiles, partition, tile + room.far[k] * parts);
      __syncthreads(); // all have seen the count
    }
  }
  __device__ __forceinline__ place_in_tile place_of(tiles_of_part const& tiles, u32 partition, u32 tile) const {
    u16 const* const begins = tiles.words + (tile * tiles.words_of_tile + partition);
    return {tile, begins[0], begins[1]};
  }
  /// The same of count tiles, from one on: as many threads of a warp, or as many warps, as its elements of a tile are worth take one, U of them at once.
  __device__ __forceinline__ void fold_tiles(tiles_of_part const& tiles, u32 partition, u32 tile, u32 apart, u32 count, u32 warps_beside, room_of_shares& room) const {
    u32 const warp = threadIdx.x / 32, teams = warps / warps_beside * runs, team = warp / warps_beside * runs + threadIdx.x % 32 / run;
    u32 const lane = threadIdx.x % run + warp % warps_beside * run, step = warps_beside * run;
    for (u32 first = 0; first < count; first += teams * U) {
      place_in_tile here[U];
      u32 most = 0;
#pragma unroll
      for (int u = 0; u < U; ++u) {
        u32 const number = first + u * teams + team;
        here[u] = number < count ? place_of(tiles, partition, tile + number * apart) : place_in_tile{};
      }
#pragma unroll
      for (int u = 0; u < U; ++u) {
        u32 const n = here[u].to - here[u].at;
        bool const is_far = n > 16 * step;
        if (is_far && lane == 0)
          room.far[atomicAdd(&room.far_count, 1u)] = static_cast<u16>(first + u * teams + team);
        here[u].to = is_far ? here[u].at : here[u].to;
        here[u].at += lane;
        most = !is_far && n > most ? n : most;
      }
      most = __reduce_max_sync(0xffffffffu, most);
      for (u32 k = warp % warps_beside * run; k < most; k += step)
        fold_rows(tiles, here, step);
    }
  }
  __device__ __forceinline__ void fold_far(tiles_of_part const& tiles, u32 partition, u32 tile) const {
    place_in_tile const all = place_of(tiles, partition, tile);
    place_in_tile here[U];
#pragma unroll
    for (int u = 0; u < U; ++u)
      here[u] = {tile, all.at + u * threads + threadIdx.x, all.to};
    for (u32 k = all.at + threadIdx.x / 32 * 32; k < all.to; k += U * threads)
      fold_rows(tiles, here, U * threads);
  }
  /// Folds the row of each place, where there is one, and moves the places on. The whole warp calls it.
  __device__ __forceinline__ void fold_rows(tiles_of_part const& tiles, place_in_tile (&here)[U], u32 step) const {
    rows_beside<1, 0, 0, Columns...> rows[U];
    unsigned slot[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      slot[u] = Table::nobody;
      if (here[u].is_there()) {
        slot[u] = this->first + tiles.words[here[u].tile * tiles.words_of_tile + (tiles.slots_at + here[u].at)];
        rows[u].template load<travelling::named>(tiles.columns, [&](int c, int) { return here[u].tile * (tiles.words_of_tile * 2 / size_of(c)) + here[u].at; });
      }
      here[u].at += step;
    }
    Table::add_rows([&](int u) { return rows[u].row_at(tiles.columns, 0, 0); }, slot, Table::looks_for_few_slots);
  }
  /// Bytes of an element of column c, a power of two.
  __device__ static constexpr u32 size_of(int c) {
    constexpr u32 bytes[] = {u32(sizeof(typename Columns::value_type))..., 1};
    return bytes[c];
  }
};

template <partitioned_keys_plan P, class Where, class Program, class Nodes>
__global__ void __launch_bounds__(P.table.threads_per_block, 1)
    fold_partitions(__grid_constant__ Where const where, __grid_constant__ Program const p, __grid_constant__ axes_layout const at, __grid_constant__ Nodes const nodes,
                    __grid_constant__ slot_partitions const from, __grid_constant__ keyed_memory const to, answer_arrays const out, keyed_phase phase) {
  extern __shared__ __align__(16) char table[];
  partitions_fold<P, Where, Program> read(where, p, at, from, to, table);
  i64 const thread = i64(blockIdx.x) * blockDim.x + threadIdx.x, threads = i64(blockDim.x) * gridDim.x;
  if (phase == keyed_phase::aim)
    read.aim_at_sample();
  else if (phase == keyed_phase::open)
    read.open(thread, threads);
  else if (phase == keyed_phase::fold)
    read.fold();
  else if (phase == keyed_phase::meet)
    read.fold_rest();
  else
    read.close(thread, threads, nodes, out);
}

} // namespace tally::v0::kernel
