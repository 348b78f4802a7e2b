#pragma once
// The parts that the built-in environments share: their random generator, and functions that save
// numbers.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "actors/random/numpy_random.hpp"

namespace troupe::detail {

/// The random generator of one environment. It does not exist before the environment's first reset.
class env_random {
 public:
  /// Applies Gymnasium's rule: a seed restarts the generator, without a seed the stream continues,
  /// and at the very first reset the operating system seeds it.
  void begin_episode(std::optional<std::uint64_t> seed);

  numpy_random& operator*() { return *random_; }
  numpy_random* operator->() { return &*random_; }

  void save(state_writer& to) const;
  void restore(const state_reader& from);

 private:
  std::optional<numpy_random> random_;
};

/// Saves the state of an environment as the entry "state".
void put_numbers(state_writer& to, std::span<const double> state);
/// Loads the state that `put_numbers` saved. Throws state_error, with the environment's `name` in
/// the message, if the saved state has another size.
void get_numbers(const state_reader& from, std::string_view name, std::span<double> state);

}  // namespace troupe::detail
