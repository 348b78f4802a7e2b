#include "actors/environments/env_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace troupe::detail {

void env_random::begin_episode(std::optional<std::uint64_t> seed) {
  if (seed)
    random_.emplace(*seed);
  else if (!random_)
    random_ = numpy_random::from_entropy();
}

void env_random::save(state_writer& to) const {
  if (random_) put_random(to, "random", *random_);
}

void env_random::restore(const state_reader& from) {
  random_.reset();
  if (from.has("random")) random_ = get_random(from, "random");
}

void put_numbers(state_writer& to, std::span<const double> state) {
  to.put("state", std::vector<double>(state.begin(), state.end()));
}

void get_numbers(const state_reader& from, std::string_view name, std::span<double> state) {
  const auto saved = from.get<std::vector<double>>("state");
  if (saved.size() != state.size())
    throw state_error(fmt::format("{}: expected a state of {} numbers, got {}", name, state.size(),
                                  saved.size()));
  std::copy(saved.begin(), saved.end(), state.begin());
}

}  // namespace troupe::detail
