#include "actors/openenv/server/conversation.hpp"

#include <nlohmann/json.hpp>

#include "actors/openenv/server/json_rpc.hpp"
#include "actors/openenv/server/requests.hpp"
#include "runtime/base/random_bits.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::openenv_server {

using namespace openenv;  // the messages of clients and servers

namespace {

using nlohmann::json;

const json at_top = json::array();

answer refusal(server_error code, const std::string& message, const json& more = json::object()) {
  return {.text = error_text(code, message, more), .closes = !keeps_session(code), .error = code};
}

/// Checks a message. Throws invalid_input for unknown keys, and for `data` that is no object.
void check_envelope(request_kind kind, const json& message) {
  const bool has_data = kind != request_kind::state && kind != request_kind::close;
  const bool needs_data = has_data && kind != request_kind::reset;
  input_errors errors;
  const auto data = message.find("data");
  if (has_data && data != message.end() && !data->is_object()) {
    errors.add("dict_type", {"data"}, "Input should be a valid dictionary", *data);
  } else if (needs_data && data == message.end()) {
    errors.add_missing(at_top, "data", message);
  }
  if (has_data)
    errors.forbid_others(at_top, message, {"type", "data"});
  else
    errors.forbid_others(at_top, message, {"type"});
  errors.throw_if_any();
}

/// Returns the "type" of a message as Python prints it, for error messages.
std::string shown_type(const json& message) {
  const auto type = message.find("type");
  if (type == message.end()) return "";
  const auto text = type->is_string() ? type->get<std::string>() : to_text(*type);
  return troupe::detail::printable(text, 80);
}

}  // namespace

conversation::conversation(std::unique_ptr<vector_environment> one, std::string id)
    : id_(id.empty() ? troupe::detail::random_uuid() : std::move(id)),
      played_(std::move(one)),
      observations_(played_.spec().observation_space),
      actions_(played_.spec().action_space) {}

answer conversation::to(std::string_view text) {
  try {
    return read(text);
  } catch (const bad_text& e) {
    return refusal(server_error::invalid_json, std::string("Invalid JSON: ") + e.what());
  } catch (const std::exception& e) {
    return refusal(server_error::session_error, troupe::detail::printable(e.what(), 1000));
  }
}

answer conversation::read(std::string_view text) {
  const auto message = parse_text(text, request_bytes_max);
  if (!message.is_object())
    return refusal(server_error::session_error,
                   std::string("expected an object, got ") + message.type_name());
  const auto type = message.find("type");
  const auto kind = type != message.end() && type->is_string()
                        ? to_request_kind(type->get_ref<const std::string&>())
                        : std::nullopt;
  if (!kind) {
    return refusal(server_error::unknown_type, "Unknown message type: " + shown_type(message));
  }

  answer made;
  try {
    check_envelope(*kind, message);
    made.text = carry_out(*kind, message);
    made.closes = *kind == request_kind::close;
  } catch (const invalid_input& e) {
    made = refusal(server_error::validation_error, e.what(), {{"errors", e.errors()}});
  } catch (const std::exception& e) {
    made = refusal(server_error::execution_error, troupe::detail::printable(e.what(), 1000));
  }
  made.request = kind;
  return made;
}

std::string conversation::carry_out(request_kind kind, const json& message) {
  std::string text;
  switch (kind) {
    case request_kind::reset:
      reset(message, text);
      break;
    case request_kind::step:
      step(message, text);
      break;
    case request_kind::state:
      text = R"({"type":"state","data":)";
      append_state(episode_id_, steps_, text);
      text += '}';
      break;
    case request_kind::mcp:
      text = reply_text(reply_kind::mcp, answer_rpc(message["data"], id_));
      break;
    case request_kind::close:
      break;
  }
  return text;
}

void conversation::reset(const json& message, std::string& to) {
  const auto data = message.find("data");
  const auto asked = data == message.end() ? reset_request{} : read_reset(*data, {"data"});
  const auto seen = played_.reset(asked.seed);
  episode_id_ = asked.episode_id ? *asked.episode_id : troupe::detail::random_uuid();
  steps_ = 0;
  to = R"({"type":"observation","data":)";
  append_result(observations_, seen, to);
  to += '}';
}

void conversation::step(const json& message, std::string& to) {
  // The place has no prefix, because OpenEnv's servers read the action by itself.
  actions_.read(message["data"], at_top, action_);
  const auto seen = played_.step(action_);
  ++steps_;
  to = R"({"type":"observation","data":)";
  append_result(observations_, seen, to);
  to += '}';
}

answer binary_answer() {
  return refusal(server_error::session_error, "expected a text message, got a binary one");
}

answer rpc_answer(std::string_view text, const std::string& session_id) {
  return {.text = to_text(answer_rpc_text(text, session_id)), .request = request_kind::mcp};
}

answer session_answer(const std::string& message) {
  return refusal(server_error::session_error, message);
}

std::string at_capacity(std::size_t active, std::size_t max) {
  return "Server at capacity: " + std::to_string(active) + "/" + std::to_string(max) +
         " sessions active. Cannot accept new connections.";
}

answer capacity_answer(std::size_t active, std::size_t max) {
  return refusal(server_error::capacity_reached, at_capacity(active, max),
                 {{"active_sessions", active}, {"max_sessions", max}});
}

answer factory_answer(const std::string& message, const std::string& id) {
  return refusal(server_error::factory_error, troupe::detail::printable(message, 1000),
                 {{"factory_name", id}});
}

}  // namespace troupe::openenv_server
