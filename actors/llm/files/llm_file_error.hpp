#pragma once
// The error of all readers of model and tokenizer files.

#include <stdexcept>

namespace troupe::llm {

/// Reports a file of a model or tokenizer that can't be used. The message has the file, the tensor
/// or field with its offset in bytes if it has one, the expected value and the actual one:
/// `m.safetensors: tensor "model.norm.weight" at byte 1032: expected ..., got ...`.
class llm_file_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace troupe::llm
