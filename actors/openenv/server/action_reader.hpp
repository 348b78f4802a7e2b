#pragma once

#include <nlohmann/json_fwd.hpp>

#include "actors/environments/vector_environment.hpp"
#include "actors/openenv/server/input_errors.hpp"

namespace troupe::openenv_server {

/// Reads what clients send as the action of one environment: {"action": ELEMENT}, and "metadata",
/// an object that nobody looks at, beside it.
class action_reader {
 public:
  /// Throws std::invalid_argument for action spaces that a step message does not carry (text,
  /// tuple, dict, a box of no element).
  explicit action_reader(space actions);

  /// The JSON Schema of what `read` takes.
  nlohmann::json schema() const;
  /// Overwrites `to`, one environment's. Throws invalid_input, naming every fault, for what is not
  /// in the action space; `at` is where `data` stands in the message.
  void read(const nlohmann::json& data, const input_errors::place& at, env_actions& to) const;

 private:
  void read_element(const nlohmann::json& element, const input_errors::place& at, env_actions& to,
                    input_errors& errors) const;
  void read_box(const nlohmann::json& list, std::size_t dimension, const input_errors::place& at,
                env_actions& to, input_errors& errors) const;

  space space_;
};

}  // namespace troupe::openenv_server
