#pragma once

#include <stdexcept>

namespace troupe::llm {

/// A file of a model or of a tokenizer that can't be used. The message begins with the file, then
/// the tensor or field, and the offset in bytes where there is one; then what was expected and what
/// came: `m.safetensors: tensor "model.norm.weight" at byte 1032: expected ..., got ...`.
class llm_file_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace troupe::llm
