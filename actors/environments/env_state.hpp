#pragma once
// What the environments here have in common: a generator, and numbers to save.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "actors/random/numpy_random.hpp"

namespace troupe::detail {

/// An environment's own generator, which none has before its first reset.
class env_random {
 public:
  /// Gymnasium's rule: a seed makes it anew, without one its stream goes on, and the very first
  /// time the operating system seeds it.
  void begin_episode(std::optional<std::uint64_t> seed);

  numpy_random& operator*() { return *random_; }
  numpy_random* operator->() { return &*random_; }

  void save(state_writer& to) const;
  void restore(const state_reader& from);

 private:
  std::optional<numpy_random> random_;
};

/// The state of an environment called `name`, as `state` in what is saved of it.
void put_numbers(state_writer& to, std::span<const double> state);
/// Throws state_error if it has another size.
void get_numbers(const state_reader& from, std::string_view name, std::span<double> state);

}  // namespace troupe::detail
