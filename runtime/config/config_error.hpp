#pragma once
// The exception for every configuration that is refused.

#include <stdexcept>
#include <string>

namespace troupe {

/// The reasons of a config_error that callers tell apart.
enum class config_fault {
  other,
  unknown_key,    ///< The options of that place have no such key.
  not_an_object,  ///< The place takes options by their names, and has something else.
};

/// Thrown for a configuration that is refused. `what()` names the place, the expectation and the
/// value: `/trainer/lr: expected a number > 0, got "fast"`. A program that gets it ends with exit
/// code 2.
class config_error : public std::runtime_error {
 public:
  /// `pointer` is a JSON pointer (RFC 6901), which is empty for the whole document, or the name of
  /// a file.
  config_error(std::string pointer, const std::string& message,
               config_fault fault = config_fault::other)
      : std::runtime_error((pointer.empty() ? "configuration" : pointer) + ": " + message),
        pointer_(std::move(pointer)),
        fault_(fault) {}

  /// The place of the error, such as "/trainer/lr".
  const std::string& pointer() const { return pointer_; }
  config_fault fault() const { return fault_; }

 private:
  std::string pointer_;
  config_fault fault_;
};

}  // namespace troupe
