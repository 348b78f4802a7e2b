#pragma once
// Internal to this folder: the memory that the messages of all clients may take together.

#include <algorithm>
#include <cstddef>
#include <string>

namespace troupe::openenv_server {

/// How many bytes the value of a JSON text takes at most, per byte of the text. An array of empty
/// objects takes most: "{}," is an element of 16 bytes, in a vector that holds three times as many
/// while it grows, and a map of 64.
inline constexpr std::size_t json_bytes_a_byte = 40;

/// Returns the bytes that a message of that length takes while it is answered.
constexpr std::size_t bytes_while_answered(std::size_t message) {
  return message * (1 + json_bytes_a_byte);
}

/// Returns the smallest budget in which the longest message can be answered.
constexpr std::size_t least_budget(std::size_t message_bytes_max) {
  constexpr std::size_t buffers = std::size_t{128} << 10;
  return bytes_while_answered(message_bytes_max) + buffers;
}

/// Gives the memory of a text back. An assignment of an empty text would keep it.
inline void release(std::string& text) { std::string().swap(text); }

/// Counts the bytes that the clients of a server hold together. Only the server's thread uses it.
class byte_budget {
 public:
  explicit byte_budget(std::size_t max) : max_(max) {}

  std::size_t max() const { return max_; }
  std::size_t held() const { return held_; }
  std::size_t most_held() const { return most_held_; }  ///< The largest number so far.

 private:
  friend class held_bytes;

  std::size_t max_;
  std::size_t held_ = 0;
  std::size_t most_held_ = 0;
};

/// The bytes that one client holds. They are given back when this object ends.
class held_bytes {
 public:
  explicit held_bytes(byte_budget& of) : budget_(of) {}
  ~held_bytes() { shrink_to(0); }
  held_bytes(const held_bytes&) = delete;

  std::size_t count() const { return count_; }

  /// Returns how many bytes must be given back by others before this client can hold `bytes`.
  std::size_t missing_for(std::size_t bytes) const {
    const auto after = budget_.held_ - count_ + bytes;
    return after > budget_.max_ ? after - budget_.max_ : 0;
  }
  /// Holds that many bytes from now on. Returns false, and changes nothing, if that is more than
  /// the budget has.
  bool set(std::size_t bytes) {
    if (bytes > count_ && missing_for(bytes) > 0) return false;
    budget_.held_ = budget_.held_ - count_ + bytes;
    budget_.most_held_ = std::max(budget_.most_held_, budget_.held_);
    count_ = bytes;
    return true;
  }
  /// Holds at most that many bytes from now on.
  void shrink_to(std::size_t bytes) { set(std::min(bytes, count_)); }

 private:
  byte_budget& budget_;
  std::size_t count_ = 0;
};

}  // namespace troupe::openenv_server
