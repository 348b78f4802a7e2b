#include "actors/openenv/protocol/error.hpp"

#include <array>

namespace troupe::openenv {

std::string_view to_string(failure reason) {
  constexpr std::array<std::string_view, failures> words{
      "connect",    "handshake", "capacity", "factory",  "timeout",    "closed",
      "too_large",  "not_utf8",  "not_json", "too_deep", "wrong_type", "unexpected",
      "validation", "execution", "session",  "cancelled"};
  return words[static_cast<std::size_t>(reason)];
}

failure to_failure(text_fault fault) {
  switch (fault) {
    case text_fault::too_large:
      return failure::too_large;
    case text_fault::not_utf8:
      return failure::not_utf8;
    case text_fault::not_json:
      return failure::not_json;
    case text_fault::too_deep:
      return failure::too_deep;
    case text_fault::wrong_type:
      break;
  }
  return failure::wrong_type;
}

failure to_failure(server_error code) {
  switch (code) {
    case server_error::invalid_json:
    case server_error::unknown_type:
    case server_error::validation_error:
      return failure::validation;
    case server_error::execution_error:
      return failure::execution;
    case server_error::capacity_reached:
      return failure::capacity;
    case server_error::factory_error:
      return failure::factory;
    case server_error::session_error:
    case server_error::other:
      break;
  }
  return failure::session;
}

bool keeps_session(failure reason) {
  return reason == failure::validation || reason == failure::execution;
}

}  // namespace troupe::openenv
