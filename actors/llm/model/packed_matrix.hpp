#pragma once
// The matrix product of the linear layers on the CPU, for inference and training.

#include <cstddef>
#include <memory>
#include <span>

namespace troupe::llm {

/// Floats at a 64-byte boundary, on huge pages if the kernel provides them. They are 0 at first.
class aligned_floats {
 public:
  aligned_floats() = default;
  explicit aligned_floats(std::size_t count);

  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct release {
    void operator()(float* p) const;
  };
  std::unique_ptr<float[], release> data_;
  std::size_t size_ = 0;
};

/// A part of a weight matrix: `rows` outputs, each with all inputs.
struct weight_rows {
  const float* data = nullptr;
  std::ptrdiff_t rows = 0;
};

/// The weight [outputs, inputs] of a linear layer in the order in which a product with a few rows
/// reads it: panels of 48 outputs, one input after the other. With 32 rows the weight is read
/// from memory once, each value is used for all rows, and the next panel is prefetched. An output
/// sums over the inputs in the same order for any number of rows, so that a token's logits don't
/// depend on the rest of the batch.
class packed_matrix {
 public:
  packed_matrix() = default;
  /// Stacks the outputs of the parts, such as q, k and v, into one weight.
  packed_matrix(std::span<const weight_rows> parts, std::ptrdiff_t inputs);

  std::ptrdiff_t outputs() const { return outputs_; }
  std::ptrdiff_t inputs() const { return inputs_; }

  /// y[rows, outputs] = x[rows, inputs] W^T, added to y if `add` is true.
  void multiply(const float* x, std::ptrdiff_t rows, float* y, bool add = false) const;

 private:
  std::ptrdiff_t outputs_ = 0;
  std::ptrdiff_t inputs_ = 0;
  aligned_floats panels_;
};

}  // namespace troupe::llm
