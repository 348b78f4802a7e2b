// Reads what a server says of its environment in /schema, JSON Schema as Pydantic and
// `troupe serve-env` write it.

#include <future>
#include <nlohmann/json.hpp>

#include "actors/openenv/client/http_call.hpp"
#include "actors/openenv/client/io_thread.hpp"
#include "actors/openenv/client/numeric_worlds.hpp"
#include "actors/openenv/client/tls.hpp"

namespace troupe::openenv {

using nlohmann::json;

namespace {

constexpr std::size_t schema_bytes_max = std::size_t{16} << 20;
constexpr float infinity = std::numeric_limits<float>::infinity();

[[noreturn]] void refuse(const std::string& where, const std::string& expected, const json& got) {
  const auto text = got.dump(-1, ' ', false, json::error_handler_t::replace);
  throw error(failure::wrong_type, where + ": expected " + expected + ", got " +
                                       (text.size() < 300 ? text : text.substr(0, 300) + ".."));
}

http_answer get(const client_options& servers, const server_url& url, const std::string& path) {
  const auto thread = io_thread::of_this_process();
  std::promise<http_answer> answer;
  auto got = answer.get_future();
  const auto call = start_http_call(
      *thread,
      {.url = url,
       .path = path,
       .body = "",
       .timeout = servers.connect_timeout,
       .reply_bytes_max = schema_bytes_max,
       .trust = url.tls ? std::make_shared<tls_trust>(servers.authorities) : nullptr,
       .headers = servers.headers},
      [&answer](outcome<http_answer> told) {
        told ? answer.set_value(std::move(told).value()) : answer.set_exception(told.error());
      });
  return got.get();
}

std::string type_of(const json& schema) {
  const auto found = schema.is_object() ? schema.find("type") : schema.end();
  return found != schema.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_number(const json& schema) {
  return type_of(schema) == "integer" || type_of(schema) == "number";
}

float bound_of(const json& schema, const char* name, float otherwise) {
  const auto found = schema.find(name);
  return found != schema.end() && found->is_number() ? found->get<float>() : otherwise;
}

/// Returns the schemas of a list's numbers, one each.
std::vector<json> parts_of(const std::string& where, const json& schema) {
  const auto size = schema.value("maxItems", json());
  const bool has_size = size.is_number_unsigned() && size == schema.value("minItems", json());
  if (type_of(schema) == "object")
    throw error(failure::wrong_type,
                where +
                    ": expected a list of numbers, got a dictionary, which can't be trained on "
                    "over OpenEnv; --env with the environment's own name can");
  if (type_of(schema) != "array" || !has_size || size == 0)
    refuse(where, "a list of numbers with minItems and maxItems, which are equal", schema);
  std::vector<json> parts;
  if (const auto each = schema.find("prefixItems"); each != schema.end() && each->is_array())
    parts.assign(each->begin(), each->end());
  if (parts.empty()) parts.assign(size.get<std::size_t>(), schema.value("items", json()));
  if (parts.size() != size || !std::ranges::all_of(parts, is_number))
    refuse(where, "a list of " + size.dump() + " numbers", schema);
  return parts;
}

space box_of(const std::vector<json>& parts) {
  std::vector<float> low, high;
  for (const auto& part : parts) {
    low.push_back(bound_of(part, "minimum", -infinity));
    high.push_back(bound_of(part, "maximum", infinity));
  }
  return spaces::box(std::move(low), std::move(high));
}

struct integer_range {
  std::int64_t first, count;
};

integer_range range_of(const std::string& where, const json& schema) {
  const auto first = schema.value("minimum", json()), last = schema.value("maximum", json());
  if (!first.is_number_integer() || !last.is_number_integer() || last < first)
    refuse(where, "an integer with minimum and maximum", schema);
  return {first.get<std::int64_t>(), last.get<std::int64_t>() - first.get<std::int64_t>() + 1};
}

space action_space_of(const std::string& where, const json& schema) {
  if (type_of(schema) == "integer") {
    const auto [first, count] = range_of(where, schema);
    return spaces::discrete(count, first);
  }
  const auto parts = parts_of(where, schema);
  if (type_of(parts.front()) == "number") return box_of(parts);
  std::vector<std::int64_t> counts, starts;
  for (const auto& part : parts) {
    const auto [first, count] = range_of(where, part);
    counts.push_back(count);
    starts.push_back(first);
  }
  return spaces::multi_discrete(std::move(counts), std::move(starts));
}

}  // namespace

env_spec served_spec(const client_options& servers) {
  if (servers.urls.empty())
    throw std::invalid_argument("openenv: urls: expected at least one server, got none");
  const auto url = parse_url(servers.urls.front());
  const auto where = "openenv: " + url.text + "/schema: ";
  const auto got = get(servers, url, "/schema");
  if (got.status != 200)
    throw error(failure::handshake,
                where + "expected status 200, got " + std::to_string(got.status));
  json said;
  try {
    said = parse_text(got.body, schema_bytes_max);
  } catch (const bad_text& e) {
    throw error(to_failure(e.fault()), where + e.what());
  }
  const auto field = [&](const char* path) {
    const json::json_pointer at(path);
    if (!said.contains(at)) refuse(where + path, "a schema", nullptr);
    return said[at];
  };
  const char* const obs = "/observation/properties/obs";
  const char* const action = "/action/properties/action";
  return {.id = url.text,
          .observation_space = box_of(parts_of(where + obs, field(obs))),
          .action_space = action_space_of(where + action, field(action))};
}

}  // namespace troupe::openenv
