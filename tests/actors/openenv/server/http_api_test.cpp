#include "actors/openenv/server/http_api.hpp"

#include <nlohmann/json.hpp>

#include "actors/openenv/server/json_rpc.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/actors/environments/scripted_environment.hpp"
#include "tests/test.hpp"

namespace troupe::openenv_server {
namespace {

using nlohmann::json;

http_api api_of(const std::string& id) {
  return http_api([id] { return make_vector_environment(id, 1); });
}

http_reply get(const http_api& api, const char* path) {
  return api.answer({.method = "GET", .path = path}, false);
}

http_reply post(const http_api& api, const char* path, const char* body,
                const char* content_type = "application/json") {
  return api.answer({.method = "POST", .path = path, .content_type = content_type, .body = body},
                    false);
}

TEST_CASE("http api: every environment of a single agent has metadata and schemas") {
  for (const auto& id : known_environments()) {
    if (!make_vector_environment(id, 1)->spec().agents.empty()) {
      CHECK_THROWS_WITH(api_of(id), Catch::Contains("got Tuple("));
      continue;
    }
    const auto api = api_of(id);
    CHECK(json::parse(get(api, "/metadata").body)["name"] == id);
    const auto schema = json::parse(get(api, "/schema").body);
    for (const char* part : {"action", "observation", "state"}) CHECK(schema[part].is_object());
    CHECK(schema.at("action").at("required") == json{"action"});
    CHECK(schema.at("observation").at("required") == json{"obs", "terminated", "truncated"});
  }
}

TEST_CASE("http api: what a validator and an orchestrator ask for") {
  const auto api = api_of("CartPole-v1");
  CHECK(get(api, "/health").body == R"({"status":"healthy"})");
  const auto draining = api.answer({.method = "GET", .path = "/health"}, true);
  CHECK(draining.status == 503);
  CHECK(draining.body == R"({"status":"unhealthy"})");
  const auto document = json::parse(get(api, "/openapi.json").body);
  CHECK(document.at("info").at("version") == "1.0.0");
  for (const char* path : {"/reset", "/step", "/state", "/health", "/metadata", "/schema", "/mcp"})
    CHECK(document.at("paths").contains(path));
  CHECK(json::parse(get(api, "/state").body)["step_count"] == 0);
  CHECK(get(api, "/nosuch").status == 404);
  CHECK(get(api, "/nosuch").body == R"({"detail":"Not Found"})");
  CHECK(get(api, "/reset").status == 405);
  CHECK(get(api, "/reset").allow == "POST");
}

TEST_CASE("http api: resets and steps work on a fresh environment each") {
  const auto api = api_of("CartPole-v1");
  const auto first = post(api, "/reset", R"({"seed":42,"episode_id":"e","custom":"x"})");
  CHECK(first.status == 200);
  CHECK(json::parse(first.body)["observation"]["obs"].size() == 4);
  CHECK(post(api, "/reset", R"({"seed":42})").body == first.body);
  CHECK(post(api, "/reset", "").status == 200);
  const auto step =
      post(api, "/step", R"({"action":{"action":1},"timeout_s":5.0,"request_id":"r"})");
  CHECK(json::parse(step.body)["reward"] == 1.0);
}

TEST_CASE("http api: what is wrong with a body is told in the form of OpenEnv's server") {
  const auto api = api_of("CartPole-v1");
  const auto error = [&](const char* path, const char* body,
                         const char* content_type = "application/json") {
    const auto got = post(api, path, body, content_type);
    CHECK(got.status == 422);
    return json::parse(got.body)["detail"][0];
  };
  CHECK(error("/reset", "{bad json")["type"] == "json_invalid");
  CHECK(error("/reset", "[1]")["type"] == "model_attributes_type");
  CHECK(error("/reset", R"({"seed":-1})") ==
        json::parse(R"({"type":"greater_than_equal","loc":["body","seed"],
            "msg":"Input should be greater than or equal to 0","input":-1,"ctx":{"ge":0}})"));
  CHECK(error("/step", "")["type"] == "missing");
  CHECK(error("/step", "{}")["loc"] == json{"body", "action"});
  CHECK(error("/step", R"({"action":[]})")["type"] == "dict_type");
  CHECK(error("/step", R"({"action":{"nope":1}})")["loc"] == json{"action"});
  CHECK(error("/step", R"({"action":{"action":1},"timeout_s":0})")["type"] == "greater_than");
  CHECK(error("/step", R"({"action":{"action":1}})", "text/plain")["type"] ==
        "model_attributes_type");
}

TEST_CASE("http api: an environment that fails is an error of the server") {
  const http_api api([] {
    return std::make_unique<vector_env<scripted_environment>>(1, [] {
      return scripted_environment({.on_step = [](auto, auto, auto) -> step_result {
        throw std::runtime_error("out of fuel");
      }});
    });
  });
  CHECK(post(api, "/step", R"({"action":{"action":1}})").status == 500);
}

TEST_CASE("json rpc: what can't be answered is told by JSON-RPC's codes") {
  const auto code = [](const char* text) { return answer_rpc_text(text)["error"]["code"]; };
  CHECK(code("garbage") == -32700);
  CHECK(code("{}") == -32600);
  CHECK(code("[]") == -32600);
  CHECK(code(R"({"jsonrpc":"1.0","method":"tools/list","id":5})") == -32600);
  CHECK(code(R"({"jsonrpc":"2.0","method":"tools/list","params":[1],"id":7})") == -32600);
  CHECK(code(R"({"jsonrpc":"2.0","method":"tools/list","extra":1})") == -32600);
  CHECK(code(R"({"jsonrpc":"2.0","method":"initialize","id":2})") == -32601);
  CHECK(code(R"({"jsonrpc":"2.0","method":"tools/call","params":{},"id":4})") == -32602);
  CHECK(code(R"({"jsonrpc":"2.0","method":"openenv/session/close","params":{},"id":5})") == -32602);
  CHECK(code(R"({"jsonrpc":"2.0","method":"tools/list","params":{},"id":1})") == -32603);
  CHECK(answer_rpc_text(R"({"jsonrpc":"2.0","method":"ping","id":"a"})")["id"] == "a");
}

}  // namespace
}  // namespace troupe::openenv_server
