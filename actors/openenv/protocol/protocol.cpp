#include "actors/openenv/protocol/protocol.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "runtime/base/utf8.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe::openenv {

namespace {

using nlohmann::json;

constexpr std::array request_words{"reset", "step", "state", "close", "mcp"};
constexpr std::array reply_words{"observation", "state", "mcp", "error"};
constexpr std::array error_words{"INVALID_JSON",    "UNKNOWN_TYPE",     "VALIDATION_ERROR",
                                 "EXECUTION_ERROR", "CAPACITY_REACHED", "FACTORY_ERROR",
                                 "SESSION_ERROR"};
constexpr std::array fault_words{"too_large", "not_utf8", "not_json", "too_deep", "wrong_type"};

template <class Kind, std::size_t N>
std::optional<Kind> find(const std::array<const char*, N>& words, std::string_view word) {
  const auto at = std::ranges::find(words, word);
  if (at == words.end()) return std::nullopt;
  return static_cast<Kind>(at - words.begin());
}

/// Throws bad_text if more than depth_max brackets are open at once. This is much cheaper than
/// asking the parser.
void require_shallow(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
    } else if (c == '[' || c == '{') {
      if (++depth > depth_max)
        throw bad_text(text_fault::too_deep, "expected at most " + std::to_string(depth_max) +
                                                 " nested values, got more");
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
}

[[noreturn]] void refuse(const std::string& pointer, const std::string& expected, const json* got) {
  throw bad_text(text_fault::wrong_type, pointer + ": expected " + expected + ", got " +
                                             (got ? troupe::detail::show(*got) : "none"));
}

/// Returns the member under `key`, or null if there is none.
const json* member(const json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}

const json& object_at(const json& in, const char* key, const std::string& pointer) {
  const json* found = member(in, key);
  if (!found || !found->is_object()) refuse(pointer + '/' + key, "an object", found);
  return *found;
}

std::string string_at(const json& in, const char* key) {
  const json* found = member(in, key);
  return found && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string_view to_string(request_kind kind) {
  return request_words[static_cast<std::size_t>(kind)];
}
std::string_view to_string(reply_kind kind) { return reply_words[static_cast<std::size_t>(kind)]; }
std::string_view to_string(server_error code) {
  return code == server_error::other ? "other" : error_words[static_cast<std::size_t>(code)];
}
std::string_view to_string(text_fault fault) {
  return fault_words[static_cast<std::size_t>(fault)];
}

std::optional<request_kind> to_request_kind(std::string_view word) {
  return find<request_kind>(request_words, word);
}
std::optional<reply_kind> to_reply_kind(std::string_view word) {
  return find<reply_kind>(reply_words, word);
}
server_error to_server_error(std::string_view word) {
  return find<server_error>(error_words, word).value_or(server_error::other);
}

bool keeps_session(server_error code) { return code <= server_error::execution_error; }

json parse_text(std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max)
    throw bad_text(text_fault::too_large, "expected at most " + std::to_string(bytes_max) +
                                              " bytes, got " + std::to_string(text.size()));
  require_shallow(text);
  try {
    return json::parse(text);
  } catch (const json::exception& e) {
    if (!troupe::detail::is_utf8(text))
      throw bad_text(text_fault::not_utf8, "expected UTF-8, got other bytes");
    throw bad_text(text_fault::not_json, "expected JSON, got \"" +
                                             troupe::detail::printable(text, 80) +
                                             "\": " + troupe::detail::printable(e.what(), 200));
  }
}

json to_json(const result& what) {
  json reward = nullptr;
  if (what.reward && std::isfinite(*what.reward)) reward = *what.reward;
  json data{{"observation", what.observation}, {"reward", std::move(reward)}, {"done", what.ended}};
  if (!what.metadata.is_null()) data["metadata"] = what.metadata;
  return data;
}

result to_result(json data, const std::string& pointer) {
  result made;
  object_at(data, "observation", pointer);
  made.observation = std::move(data["observation"]);
  if (const json* reward = member(data, "reward"); reward && !reward->is_null()) {
    if (reward->is_boolean()) {
      made.reward = reward->get<bool>() ? 1.0 : 0.0;
    } else if (reward->is_number()) {
      made.reward = reward->get<double>();
    } else {
      refuse(pointer + "/reward", "a number, a boolean or null", reward);
    }
  }
  const json* ended = member(data, "done");
  if (!ended || !ended->is_boolean()) refuse(pointer + "/done", "a boolean", ended);
  made.ended = ended->get<bool>();
  if (const json* metadata = member(data, "metadata"); metadata && !metadata->is_null()) {
    if (!metadata->is_object()) refuse(pointer + "/metadata", "an object or null", metadata);
    made.metadata = std::move(data["metadata"]);
  }
  return made;
}

reply parse_reply(std::string_view text, std::size_t bytes_max) {
  json message = parse_text(text, bytes_max);
  if (!message.is_object()) refuse("", "an object", &message);
  const json* type = member(message, "type");
  const auto kind =
      type && type->is_string() ? to_reply_kind(type->get_ref<const std::string&>()) : std::nullopt;
  if (!kind) refuse("/type", "observation, state, mcp or error", type);
  object_at(message, "data", "");
  json& data = message["data"];

  reply made;
  made.kind = *kind;
  switch (*kind) {
    case reply_kind::observation:
      made.result = to_result(std::move(data), "/data");
      break;
    case reply_kind::error:
      made.error.code = to_server_error(string_at(data, "code"));
      made.error.message = string_at(data, "message");
      made.error.details = std::move(data);
      break;
    case reply_kind::state:
    case reply_kind::mcp:
      made.data = std::move(data);
      break;
  }
  return made;
}

std::string request_text(request_kind kind, std::string_view data) {
  std::string text = "{\"type\":\"";
  text += to_string(kind);
  text += '"';
  if (!data.empty()) {
    text += ",\"data\":";
    text += data;
  }
  text += '}';
  return text;
}

std::string reply_text(reply_kind kind, const json& data) {
  // Texts of environments need not be valid UTF-8, so invalid bytes are replaced.
  return "{\"type\":\"" + std::string(to_string(kind)) +
         "\",\"data\":" + data.dump(-1, ' ', false, json::error_handler_t::replace) + '}';
}

std::string error_text(server_error code, const std::string& message, const json& more) {
  json data = more;
  data["message"] = message;
  data["code"] = to_string(code);
  return reply_text(reply_kind::error, data);
}

}  // namespace troupe::openenv
