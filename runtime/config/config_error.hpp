#pragma once

#include <stdexcept>
#include <string>

namespace troupe {

/// A configuration that is refused. `what()` names the place, the expectation and the value:
/// `/trainer/lr: expected a number > 0, got "fast"`. A program ends with exit code 2.
class config_error : public std::runtime_error {
 public:
  /// `pointer` is a JSON pointer (RFC 6901), empty for the whole document, or a file's name.
  config_error(std::string pointer, const std::string& message)
      : std::runtime_error((pointer.empty() ? "configuration" : pointer) + ": " + message),
        pointer_(std::move(pointer)) {}

  /// Where, such as "/trainer/lr".
  const std::string& pointer() const { return pointer_; }

 private:
  std::string pointer_;
};

}  // namespace troupe
