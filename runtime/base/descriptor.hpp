#pragma once
// Ownership of POSIX file descriptors.

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace troupe::detail {

/// A file descriptor with one owner.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) noexcept : number_(number) {}
  /// Takes the result of a system call. Throws std::system_error, "cannot ACTION", if it is below
  /// 0.
  descriptor(int number, const std::string& action) : number_(number) {
    if (number < 0) throw std::system_error(errno, std::generic_category(), "cannot " + action);
  }
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int number() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  /// Gives the descriptor to another owner.
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

}  // namespace troupe::detail
