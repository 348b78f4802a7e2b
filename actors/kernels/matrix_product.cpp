#include <algorithm>

#include "actors/kernels/dense_kernels.hpp"
#include "actors/kernels/lanes.hpp"

namespace troupe::detail {
namespace {

using index = std::ptrdiff_t;

// The table compares these kernels with OpenBLAS 0.3.21's sgemm, on one core, in GFLOP/s, by the
// shape of `steps` x batch x `columns`. It was measured on a Xeon of 2023 with AVX-512 (the numbers
// of the AVX2 kernels are in brackets):
//
//   layers of 64, batch 64 to 100                  167 to 168  (80)   sgemm 166 to 168  (71)
//   layers of 256 and 400, batch 64 and 100        117 to 158  (79)   sgemm 131 to 139  (73)
//   layers of 256 and 400, batch 256               120 to 153  (74)   sgemm 148 to 151  (78)
//   their weights' gradients, left read down       99 to 125   (50)   sgemm 146 to 153  (82)
//
// OpenBLAS would be faster only in the last line, by a third, which is one product in three. So it
// isn't used, and the sums keep their order.

// The compiler keeps an array of sums in registers only if all loops over it are unrolled.
#define TROUPE_UNROLL _Pragma("clang loop unroll(full)")

template <int rows, int vectors>
struct tile_sums {
  lanes of[rows][vectors];
};

template <int rows, int vectors>
TROUPE_ALWAYS_INLINE void add_step(const product& p, const float* left, const float* right,
                                   tile_sums<rows, vectors>& sum) {
  lanes w[vectors];
  TROUPE_UNROLL
  for (int v = 0; v < vectors; ++v) w[v] = lanes_at(right + v * lane_count);
  TROUPE_UNROLL
  for (int r = 0; r < rows; ++r) {
    const float x = left[r * p.row_stride];
    TROUPE_UNROLL
    for (int v = 0; v < vectors; ++v) sum.of[r][v] += x * w[v];
  }
}

// A tile of the result, `rows` x `vectors` x 16 sums, is kept in registers over all steps. Each sum
// has two parts, one of the even steps and one of the odd ones, so an addition need not wait for
// the one before, and even a single row keeps the processor busy. The sum of an element is the same
// for every size of tile.
template <int rows, int vectors>
TROUPE_ALWAYS_INLINE void lane_tile(const product& p, index row, index column, float* result) {
  tile_sums<rows, vectors> even, odd;
  TROUPE_UNROLL
  for (int v = 0; v < vectors; ++v) {
    const lanes start = p.bias ? lanes_at(p.bias + column + v * lane_count) : lanes{};
    TROUPE_UNROLL
    for (int r = 0; r < rows; ++r) {
      even.of[r][v] = start;
      odd.of[r][v] = lanes{};
    }
  }
  const float* left = p.left + row * p.row_stride;
  const float* right = p.right + column;
  index step = 0;
  for (; step + 2 <= p.steps; step += 2) {
    add_step(p, left, right, even);
    add_step(p, left + p.step_stride, right + p.columns, odd);
    left += 2 * p.step_stride;
    right += 2 * p.columns;
  }
  if (step < p.steps) add_step(p, left, right, even);
  TROUPE_UNROLL
  for (int r = 0; r < rows; ++r) {
    TROUPE_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const lanes sum = even.of[r][v] + odd.of[r][v];
      lanes& to = lanes_at(result + (row + r) * p.columns + column + v * lane_count);
      to = p.relu ? (sum < 0.0f ? lanes{} : sum) : sum;
    }
  }
}

// Computes the columns `begin` to `end` of some rows; the result has at least 16 columns. The last
// tile reaches back over columns that are done already and computes the same values again.
template <int rows, int vectors>
TROUPE_ALWAYS_INLINE void row_block(const product& p, index row, index begin, index end,
                                    float* result) {
  constexpr index width = vectors * lane_count;
  index column = begin;
  for (; column + width <= end; column += width) {
    lane_tile<rows, vectors>(p, row, column, result);
  }
  for (; column < end; column += lane_count) {
    lane_tile<rows, 1>(p, row, std::min(column, p.columns - lane_count), result);
  }
}

// Uses as many vectors of a row as keep all sums, `most_sums` of them, in registers.
template <int rows, int most_sums>
TROUPE_ALWAYS_INLINE void some_rows(const product& p, index row, index begin, index end,
                                    float* result) {
  row_block<rows, std::clamp(most_sums / (2 * rows), 1, 4)>(p, row, begin, end, result);
}

template <int rows, int most_sums>
TROUPE_ALWAYS_INLINE void last_rows(const product& p, index row, index begin, index end,
                                    float* result) {
  if constexpr (rows > 0) {
    if (p.rows - row == rows) return some_rows<rows, most_sums>(p, row, begin, end, result);
    last_rows<rows - 1, most_sums>(p, row, begin, end, result);
  }
}

template <int rows, int most_sums>
TROUPE_ALWAYS_INLINE void wide(const product& p, float* result) {
  // A block has as many columns of `right` as stay in the first-level cache while all rows pass.
  // With few rows there is a single block.
  constexpr index cache = 8192;  // floats
  constexpr index width = std::clamp(most_sums / (2 * rows), 1, 4) * lane_count;
  const index fitting = cache / std::max<index>(p.steps, 1) / width * width;
  const index most = p.rows < 2 * rows ? p.columns : std::max(width, fitting);
  for (index begin = 0; begin < p.columns; begin += most) {
    const index end = std::min(begin + most, p.columns);
    index row = 0;
    for (; row + rows <= p.rows; row += rows) {
      some_rows<rows, most_sums>(p, row, begin, end, result);
    }
    last_rows<rows - 1, most_sums>(p, row, begin, end, result);
  }
}

// Computes products with few columns and long contiguous rows on the left as dot products, sixteen
// steps at once. The columns of the right matrix are the rows of `turned` [columns, steps].
template <int rows>
TROUPE_ALWAYS_INLINE void dots(const product& p, const float* turned, index row, float* result) {
  for (index c = 0; c < p.columns; ++c) {
    const float* w = turned + c * p.steps;
    lanes sum[rows] = {};
    index step = 0;
    for (; step + lane_count <= p.steps; step += lane_count) {
      const lanes x = lanes_at(w + step);
      TROUPE_UNROLL
      for (int r = 0; r < rows; ++r) {
        sum[r] += lanes_at(p.left + (row + r) * p.row_stride + step) * x;
      }
    }
    for (int r = 0; r < rows; ++r) {
      float total = p.bias ? p.bias[c] : 0.0f;
      for (index s = step; s < p.steps; ++s) total += p.left[(row + r) * p.row_stride + s] * w[s];
      total += sum_of(sum[r]);
      result[(row + r) * p.columns + c] = p.relu && total < 0.0f ? 0.0f : total;
    }
  }
}

TROUPE_ALWAYS_INLINE void few_columns(const product& p, const float* turned, float* result) {
  index row = 0;
  for (; row + 8 <= p.rows; row += 8) dots<8>(p, turned, row, result);
  for (; row < p.rows; ++row) dots<1>(p, turned, row, result);
}

// Computes all other products, which are small, element by element.
TROUPE_ALWAYS_INLINE void plain(const product& p, float* result) {
  for (index row = 0; row < p.rows; ++row) {
    for (index c = 0; c < p.columns; ++c) {
      float sum = p.bias ? p.bias[c] : 0.0f;
      const float* left = p.left + row * p.row_stride;
      for (index s = 0; s < p.steps; ++s)
        sum += left[s * p.step_stride] * p.right[s * p.columns + c];
      result[row * p.columns + c] = p.relu && sum < 0.0f ? 0.0f : sum;
    }
  }
}

// The tiles have as many sums as fit into the registers: 12 x 32 in 24 of the 32 registers of
// AVX-512, and 6 x 16 in 12 of the 16 of AVX2, which leaves room for a row of `right`.
#if TROUPE_HAS_CPU_LEVELS
TROUPE_CPU_V4 void wide_v4(const product& p, float* result) { wide<6, 24>(p, result); }
TROUPE_CPU_V3 void wide_v3(const product& p, float* result) { wide<3, 6>(p, result); }
void wide_any(const product& p, float* result) { wide<1, 2>(p, result); }
const auto multiply_wide = troupe::detail::widest_kernel(wide_v4, wide_v3, wide_any);
#else
void multiply_wide(const product& p, float* result) { wide<1, 2>(p, result); }
#endif

TROUPE_CPU_CLONES void multiply_few(const product& p, const float* turned, float* result) {
  few_columns(p, turned, result);
}
TROUPE_CPU_CLONES void multiply_plain(const product& p, float* result) { plain(p, result); }

}  // namespace

void multiply(const product& p, float* result) {
  if (p.columns >= lane_count) return multiply_wide(p, result);
  constexpr index most_turned = 4096;  // floats on the stack
  if (p.step_stride == 1 && p.steps >= lane_count && p.columns * p.steps <= most_turned) {
    if (p.columns == 1) return multiply_few(p, p.right, result);
    float turned[most_turned];
    transpose(p.right, p.steps, p.columns, turned);
    return multiply_few(p, turned, result);
  }
  // The transposed product has long rows where this one has long columns: left is [steps, rows].
  if (p.row_stride == 1 && p.step_stride == p.rows && p.rows >= lane_count && !p.bias && !p.relu &&
      p.columns * p.rows <= most_turned) {
    const product turned{.left = p.right,
                         .row_stride = 1,
                         .step_stride = p.columns,
                         .right = p.left,
                         .rows = p.columns,
                         .steps = p.steps,
                         .columns = p.rows};
    if (p.columns == 1) return multiply_wide(turned, result);
    float block[most_turned];
    multiply_wide(turned, block);
    return transpose(block, p.columns, p.rows, result);
  }
  multiply_plain(p, result);
}

}  // namespace troupe::detail
