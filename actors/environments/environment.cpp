#include "actors/environments/environment.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe {

void action_view::throw_wrong_kind(const char* asked, const char* is) {
  throw std::logic_error(
      fmt::format("an environment asked for a {} action, but its action space is {}", asked, is));
}

void environment::set_level(std::size_t) {}

void environment::set_task(std::size_t) {}

episode_info environment::info() const { return {}; }

void environment::set_options(const std::string& json) {
  if (json != "{}") detail::refuse_options(spec().id, json);
}

void environment::set_attr(const std::string& name, const std::string&) {
  detail::refuse_attr(spec().id, name);
}

bool environment::save(state_writer&) const { return false; }

void environment::restore(const state_reader&) {
  throw state_error(spec().id + ": it can't be restored; expected an environment with save");
}

std::span<const agent_step> environment::agent_steps() const { return {}; }

bool environment::render(canvas&) const { return false; }

void detail::refuse_options(const std::string& id, const std::string& json) {
  throw std::invalid_argument(
      fmt::format("{}: expected no reset options, for it has none, got {}", id, json));
}

void detail::refuse_attr(const std::string& id, const std::string& name) {
  throw std::invalid_argument(
      fmt::format("{}: expected an attribute that can be set, got \"{}\"", id, name));
}

void write_obs(std::span<const float> values, std::span<float> obs) {
  if (values.size() != obs.size())
    throw wrong_shape(
        fmt::format("expected an observation of {} floats, got {}", obs.size(), values.size()));
  std::copy(values.begin(), values.end(), obs.begin());
}

}  // namespace troupe
