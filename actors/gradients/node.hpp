#pragma once
// The results and derivatives that kernel_graph keeps for each operation.

#include <cstddef>
#include <span>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "actors/kernels/float_block.hpp"

namespace troupe::detail {

/// Some columns of a matrix, one beside another.
struct column_range {
  int first = 0;
  int count = 0;
};

/// The gradients of the blocks of parameters in one step, and which parts of them were written. The
/// first derivative of a part overwrites it, each later one is added.
class gradient_blocks {
 public:
  void clear();
  /// Makes the block's gradient one that finish() completes.
  void use(const parameter_block& block);
  /// Returns where the derivative by `count` parameters from `first` on belongs, and whether it is
  /// the first one. Later ones must be added. Parts may overlap.
  struct place {
    float* to = nullptr;
    bool is_first = true;
  };
  place part(const parameter_block& block, std::size_t first, std::size_t count);
  /// Sets the parts that have no derivative to zero.
  void finish();

 private:
  struct part_range {
    std::size_t first, count;
  };
  struct record {
    std::span<float> gradient;
    std::vector<part_range> written;
    bool overlaps = false;  ///< Whether two of the parts have numbers in common.

    /// Returns whether the parts, none of which overlap, are the whole gradient.
    bool is_covered() const;
    /// Sets the numbers from `first` to `last` - 1 that no part has written to zero.
    void zero_gaps(std::size_t first, std::size_t last);
  };
  record& record_of(std::span<float> gradient);

  std::vector<record> records_;
  std::size_t used_ = 0;
};

/// An operation's result [rows, columns] and the derivative of the loss by it. Derived classes add
/// what their backward pass needs.
class graph_node {
 public:
  virtual ~graph_node() = default;
  /// Forgets the step before, but for the buffers.
  void reset() {
    wanted = {};
    has_derivative = false;
    number = 0;
  }
  /// Adds to the derivatives by the operation's arguments. Called only if `derivative` is there.
  virtual void backward() {}

  std::size_t size() const { return static_cast<std::size_t>(rows) * columns; }
  bool is_trained() const { return wanted.count > 0; }
  /// Sets the size, and returns the memory of the result.
  float* resize(int row_count, int column_count);
  /// Wants the derivative by all columns if `trained`.
  void want(bool trained) { wanted = {0, trained ? columns : 0}; }
  /// Returns the derivative's memory. The first caller in a step overwrites it, later ones add.
  float* open_derivative();

  int rows = 0;
  int columns = 0;
  const float* value = nullptr;  ///< [rows, columns]
  column_range wanted;           ///< The columns by which the loss's derivative is wanted.
  bool has_derivative = false;
  float_block derivative;  ///< [rows, wanted.count], if has_derivative
  double number = 0.0;     ///< The value of a mean.

 private:
  float_block result_;
};

/// Adds f(i) to the derivative by the element i of x, for all that are wanted. i counts row by row.
template <class F>
void add_derivative(graph_node& x, const F& f) {
  if (!x.is_trained()) return;
  const bool overwrite = !x.has_derivative;
  float* d = x.open_derivative();
  if (x.wanted.count == x.columns) {
    const auto count = static_cast<std::ptrdiff_t>(x.size());
    if (overwrite) {
      for (std::ptrdiff_t i = 0; i < count; ++i) d[i] = f(i);
    } else {
      for (std::ptrdiff_t i = 0; i < count; ++i) d[i] += f(i);
    }
    return;
  }
  for (std::ptrdiff_t row = 0; row < x.rows; ++row) {
    for (int i = 0; i < x.wanted.count; ++i, ++d) {
      const float here = f(row * x.columns + x.wanted.first + i);
      *d = overwrite ? here : *d + here;
    }
  }
}

/// Like add_derivative, with f(row, column).
template <class F>
void add_derivative_by_rows(graph_node& x, const F& f) {
  if (!x.is_trained()) return;
  const bool overwrite = !x.has_derivative;
  float* d = x.open_derivative();
  const int end = x.wanted.first + x.wanted.count;
  if (x.wanted.count == 1) {
    for (std::ptrdiff_t row = 0; row < x.rows; ++row) {
      const float here = f(row, x.wanted.first);
      d[row] = overwrite ? here : d[row] + here;
    }
    return;
  }
  for (std::ptrdiff_t row = 0; row < x.rows; ++row) {
    for (int column = x.wanted.first; column < end; ++column, ++d) {
      *d = overwrite ? f(row, column) : *d + f(row, column);
    }
  }
}

}  // namespace troupe::detail
