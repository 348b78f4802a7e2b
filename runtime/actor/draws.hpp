#pragma once
// Streams of random numbers that are independent of each other: one actor's draws don't change the
// numbers that another actor gets. Internal to runtime/.

#include <cstdint>
#include <string_view>

#include "runtime/actor/splitmix.hpp"

namespace troupe::detail {

/// Derives a key from `key` and `name`. Keys are well spread, and the same in every run and
/// process.
inline std::uint64_t key_below(std::uint64_t key, std::string_view name) noexcept {
  for (const unsigned char letter : name) {
    key ^= letter;
    key = next_of(key);
  }
  key ^= name.size();
  return next_of(key);
}

/// A stream of random numbers for one purpose. The n-th number depends only on the key, the purpose
/// and n.
class draws {
 public:
  draws(std::uint64_t key, std::string_view purpose) noexcept : state_(key_below(key, purpose)) {}
  std::uint64_t next() noexcept { return next_of(state_); }

 private:
  std::uint64_t state_;
};

}  // namespace troupe::detail
