#pragma once
// Reads the actions of OpenEnv clients.

#include <nlohmann/json_fwd.hpp>

#include "actors/environments/vector_environment.hpp"
#include "actors/openenv/server/input_errors.hpp"

namespace troupe::openenv_server {

/// Reads the action of one environment as clients send it: {"action": ELEMENT}. An object
/// "metadata" may stand beside it and is ignored.
class action_reader {
 public:
  /// Throws std::invalid_argument for action spaces that a step message does not carry (text,
  /// tuple, dict, a box without elements).
  explicit action_reader(space actions);

  /// Returns the JSON Schema of the data that `read` accepts.
  nlohmann::json schema() const;
  /// Overwrites `to`, the action of one environment. The numbers of a box may lie outside of its
  /// bounds: the vector environment clips them. Throws invalid_input, which names every fault, for
  /// other data outside the action space. `at` is the place of `data` in the message.
  void read(const nlohmann::json& data, const input_errors::place& at, env_actions& to) const;

 private:
  void read_element(const nlohmann::json& element, const input_errors::place& at, env_actions& to,
                    input_errors& errors) const;
  void read_box(const nlohmann::json& list, std::size_t dimension, const input_errors::place& at,
                env_actions& to, input_errors& errors) const;

  space space_;
};

}  // namespace troupe::openenv_server
