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

// Multiplies `rows` rows with one panel.
template <int rows>
TROUPE_ALWAYS_INLINE void tile(const product& p, const float* panel, index row, index column,
                               fetch ahead) {
  lanes sum[rows][vectors] = {};
  const float* x = p.x + row * p.inputs;
  for (index begin = 0; begin < p.inputs; begin += sum_block) {
    lanes part[rows][vectors] = {};
    const index end = std::min(begin + sum_block, p.inputs);
    for (index k = begin; k < end; ++k) {
      for (int line = 0; line < ahead.lines; ++line) {
        __builtin_prefetch(ahead.from + (k * ahead.lines + line) * lane_count, 0, 2);
      }
      lanes w[vectors];
      TROUPE_UNROLL
      for (int v = 0; v < vectors; ++v) w[v] = lanes_at(panel + k * panel_width + v * lane_count);
      TROUPE_UNROLL
      for (int r = 0; r < rows; ++r) {
        const float value = x[r * p.inputs + k];
        TROUPE_UNROLL
        for (int v = 0; v < vectors; ++v) part[r][v] += value * w[v];
      }
    }
    TROUPE_UNROLL
    for (int r = 0; r < rows; ++r) {
      TROUPE_UNROLL
      for (int v = 0; v < vectors; ++v) sum[r][v] += part[r][v];
    }
  }
  const index width = std::min(panel_width, p.outputs - column);
  TROUPE_UNROLL
  for (int r = 0; r < rows; ++r) {
    float* y = p.y + (row + r) * p.outputs + column;
    if (width == panel_width) {
      TROUPE_UNROLL
      for (int v = 0; v < vectors; ++v) {
        lanes& to = lanes_at(y + v * lane_count);
        to = p.add ? to + sum[r][v] : sum[r][v];
      }
    } else {
      float all[panel_width];
      TROUPE_UNROLL
      for (int v = 0; v < vectors; ++v) lanes_at(all + v * lane_count) = sum[r][v];
      for (index c = 0; c < width; ++c) y[c] = p.add ? y[c] + all[c] : all[c];
    }
  }
}

template <int rows>
TROUPE_ALWAYS_INLINE void last_rows(const product& p, const float* panel, index row, index end,
                                    index column, fetch ahead) {
  if constexpr (rows > 0) {
    if (end - row == rows) return tile<rows>(p, panel, row, column, ahead);
    last_rows<rows - 1>(p, panel, row, end, column, ahead);
  }
}

template <int rows>
TROUPE_ALWAYS_INLINE void multiply_tiles(const product& p) {
  const index panel_size = p.inputs * panel_width;
  for (index begin = 0; begin < p.rows; begin += row_block) {
    const index end = std::min(begin + row_block, p.rows);
    for (index column = 0; column < p.outputs; column += panel_width) {
      const float* panel = p.panels + column / panel_width * panel_size;
      // The next panel is prefetched while the tiles of this one are computed, in as many parts as
      // there are tiles, but at most three.
      const index tiles = (end - begin + rows - 1) / rows;
      const int lines = tiles >= 3 ? 1 : tiles == 2 ? 2 : 3;
      const float* next = panel + panel_size;
      const float* next_end = column + panel_width < p.outputs ? next + panel_size : next;
      const auto next_ahead = [&]() -> fetch {
        if (next >= next_end) return {};
        const fetch ahead{next, lines};
        next += lines * p.inputs * lane_count;
        return ahead;
      };
      index row = begin;
      for (; row + rows <= end; row += rows) tile<rows>(p, panel, row, column, next_ahead());
      last_rows<rows - 1>(p, panel, row, end, column, next_ahead());
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
