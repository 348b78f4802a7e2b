#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace troupe::llm {

/// Floats at a 64-byte boundary, on huge pages where the kernel gives them. Zero at first.
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

/// A part of a weight: `rows` outputs, each with as many inputs as the whole has.
struct weight_rows {
  const float* data = nullptr;
  std::ptrdiff_t rows = 0;
};

/// A linear layer's weight [outputs, inputs] in the order in which a product with a few rows reads
/// it: panels of 48 outputs, an input after the other. With 32 rows the weight comes from memory
/// once and each value serves all rows; the next panel is fetched while this one is used. An output
/// is the sum over the inputs in one order, whatever the number of rows: a token's logits don't
/// depend on who else is in the batch.
class packed_matrix {
 public:
  packed_matrix() = default;
  /// Stacks the parts' outputs: q, k and v as one weight.
  packed_matrix(std::span<const weight_rows> parts, std::ptrdiff_t inputs);

  std::ptrdiff_t outputs() const { return outputs_; }
  std::ptrdiff_t inputs() const { return inputs_; }

  /// y[rows, outputs] = x[rows, inputs] W^T, and + y where `add`.
  void multiply(const float* x, std::ptrdiff_t rows, float* y, bool add = false) const;

 private:
  std::ptrdiff_t outputs_ = 0;
  std::ptrdiff_t inputs_ = 0;
  aligned_floats panels_;
};

}  // namespace troupe::llm
