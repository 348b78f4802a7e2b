#include "actors/llm/model/packed_matrix.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "actors/kernels/cpu_clones.hpp"
#include "actors/kernels/lanes.hpp"

namespace troupe::llm {
namespace {

using index = std::ptrdiff_t;
using detail::lane_count;
using detail::lanes;
using detail::lanes_at;

constexpr index vectors = 3;
constexpr index panel_width = vectors * lane_count;
constexpr index row_block = 256;  // the rows of x that fit into the L2 cache
// The number of inputs in one partial sum. Partial sums lose less precision than one long sum.
constexpr index sum_block = 96;
constexpr std::size_t huge_page = std::size_t{2} << 20;

#define TROUPE_UNROLL _Pragma("clang loop unroll(full)")

struct product {
  const float* x;
  const float* panels;
  index rows, inputs, outputs;
  float* y;
  bool add;
};

/// The memory to prefetch while a tile is computed: some cache lines of 16 floats for each input.
struct fetch {
  const float* from = nullptr;
  int lines = 0;
};

/// A block of one panel: the inputs from `begin` to `end` for panel_width outputs. It fits into the
/// L1 cache, so that the tiles of all rows read it from there.
struct panel_block {
  const float* weights;
  index begin, end;
};

// Adds the products of `rows` rows with a block to their sums.
template <int rows>
TROUPE_ALWAYS_INLINE void tile(const product& p, panel_block block, index row, float* sums,
                               fetch ahead) {
  lanes part[rows][vectors] = {};
  const float* x = p.x + row * p.inputs;
  for (index k = block.begin; k < block.end; ++k) {
    const index at = k - block.begin;
    for (int line = 0; line < ahead.lines; ++line) {
      __builtin_prefetch(ahead.from + (at * ahead.lines + line) * lane_count, 0, 2);
    }
    float values[rows];
    TROUPE_UNROLL
    for (int r = 0; r < rows; ++r) values[r] = x[r * p.inputs + k];
    // One vector of weights at a time: with all of them at once AVX2 has too few registers, and
    // sums would go through memory.
    TROUPE_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const lanes w = lanes_at(block.weights + at * panel_width + v * lane_count);
      TROUPE_UNROLL
      for (int r = 0; r < rows; ++r) part[r][v] += values[r] * w;
    }
  }
  TROUPE_UNROLL
  for (int r = 0; r < rows; ++r) {
    TROUPE_UNROLL
    for (int v = 0; v < vectors; ++v) {
      lanes_at(sums + r * panel_width + v * lane_count) += part[r][v];
    }
  }
}

template <int rows>
TROUPE_ALWAYS_INLINE void last_rows(const product& p, panel_block block, index row, index end,
                                    float* sums, fetch ahead) {
  if constexpr (rows > 0) {
    if (end - row == rows) return tile<rows>(p, block, row, sums, ahead);
    last_rows<rows - 1>(p, block, row, end, sums, ahead);
  }
}

/// Multiplies the rows from `begin` to `end` with one panel, and leaves the products in `sums`.
template <int rows>
TROUPE_ALWAYS_INLINE void multiply_panel(const product& p, const float* panel,
                                         const float* panels_end, index begin, index end,
                                         float* sums) {
  std::fill_n(sums, (end - begin) * panel_width, 0.0f);
  // The next block is prefetched while the tiles of this one are computed, in as many parts as
  // there are tiles, but at most three. It follows in memory, also behind the last of a panel.
  const index tiles = (end - begin + rows - 1) / rows;
  const int lines = tiles >= 3 ? 1 : tiles == 2 ? 2 : 3;
  for (index k = 0; k < p.inputs; k += sum_block) {
    const panel_block block{panel + k * panel_width, k, std::min(k + sum_block, p.inputs)};
    const index inputs = block.end - block.begin;
    const float* next = block.weights + inputs * panel_width;
    const float* next_end = next + std::min(inputs * panel_width, panels_end - next);
    const auto next_ahead = [&]() -> fetch {
      if (next >= next_end) return {};
      const fetch ahead{next, lines};
      next += lines * inputs * lane_count;
      return ahead;
    };
    index row = begin;
    float* to = sums;
    for (; row + rows <= end; row += rows, to += rows * panel_width) {
      tile<rows>(p, block, row, to, next_ahead());
    }
    last_rows<rows - 1>(p, block, row, end, to, next_ahead());
  }
}

template <int rows>
TROUPE_ALWAYS_INLINE void multiply_tiles(const product& p) {
  alignas(64) float sums[row_block * panel_width];
  const index panel_size = p.inputs * panel_width;
  const index panel_count = (p.outputs + panel_width - 1) / panel_width;
  const float* panels_end = p.panels + panel_count * panel_size;
  for (index begin = 0; begin < p.rows; begin += row_block) {
    const index end = std::min(begin + row_block, p.rows);
    for (index column = 0; column < p.outputs; column += panel_width) {
      const float* panel = p.panels + column / panel_width * panel_size;
      multiply_panel<rows>(p, panel, panels_end, begin, end, sums);
      const index width = std::min(panel_width, p.outputs - column);
      for (index row = begin; row < end; ++row) {
        float* y = p.y + row * p.outputs + column;
        const float* sum = sums + (row - begin) * panel_width;
        for (index c = 0; c < width; ++c) y[c] = p.add ? y[c] + sum[c] : sum[c];
      }
    }
  }
}

// The sums of a tile must fit into the registers: 8 x 48 floats take 24 of the 32 registers of
// AVX-512, and 2 x 48 floats take 12 of the 16 registers of AVX2.
#if TROUPE_HAS_CPU_LEVELS
TROUPE_CPU_V4 void multiply_v4(const product& p) { multiply_tiles<8>(p); }
TROUPE_CPU_V3 void multiply_v3(const product& p) { multiply_tiles<2>(p); }
void multiply_any(const product& p) { multiply_tiles<1>(p); }
const auto multiply_panels = troupe::detail::widest_kernel(multiply_v4, multiply_v3, multiply_any);
#else
void multiply_panels(const product& p) { multiply_tiles<1>(p); }
#endif

}  // namespace

aligned_floats::aligned_floats(std::size_t count) : size_(count) {
  if (count == 0) return;
  std::size_t bytes = count * sizeof(float);
  const std::size_t alignment = bytes >= huge_page ? huge_page : 64;
  bytes = (bytes + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<float*>(std::aligned_alloc(alignment, bytes)));
  if (!data_) throw std::bad_alloc();
  if (alignment == huge_page) ::madvise(data_.get(), bytes, MADV_HUGEPAGE);
  std::memset(data_.get(), 0, bytes);
}

void aligned_floats::release::operator()(float* p) const { std::free(p); }

packed_matrix::packed_matrix(std::span<const weight_rows> parts, index inputs) : inputs_(inputs) {
  for (const auto& part : parts) outputs_ += part.rows;
  const index panel_count = (outputs_ + panel_width - 1) / panel_width;
  panels_ = aligned_floats(static_cast<std::size_t>(panel_count * panel_width * inputs));
  index output = 0;
  for (const auto& part : parts) {
    for (index row = 0; row < part.rows; ++row, ++output) {
      float* to =
          panels_.data() + output / panel_width * panel_width * inputs + output % panel_width;
      const float* from = part.data + row * inputs;
      for (index k = 0; k < inputs; ++k) to[k * panel_width] = from[k];
    }
  }
}

void packed_matrix::multiply(const float* x, index rows, float* y, bool add) const {
  multiply_panels({x, panels_.data(), rows, inputs_, outputs_, y, add});
}

}  // namespace troupe::llm
