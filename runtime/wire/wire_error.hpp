#pragma once
// The exception for values that can't be encoded or decoded.

#include <stdexcept>

namespace troupe {

/// Thrown for bytes that are no value of the expected type, and for a value that can't be encoded.
/// The message names the type and, when decoding, the offset in bytes.
class wire_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace troupe
