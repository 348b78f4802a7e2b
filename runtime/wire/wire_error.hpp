#pragma once

#include <stdexcept>

namespace troupe {

/// Bytes that are no value of the type that was expected, or a value that has no bytes. The message
/// names the type, and of bytes the offset.
class wire_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace troupe
