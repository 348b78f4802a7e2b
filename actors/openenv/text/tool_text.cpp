#include "actors/openenv/text/tool_text.hpp"

#include <nlohmann/json.hpp>

namespace troupe::openenv {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

/// The form in which chat templates of Qwen and Hermes models list a tool.
ordered_json function_of(const json& tool) {
  ordered_json function{{"name", tool["name"]}};
  if (const auto text = tool.value("description", json()); text.is_string())
    function["description"] = text;
  // MCP and OpenEnv's list_tools spell the schema of the arguments differently.
  for (const char* name : {"inputSchema", "input_schema"})
    if (const auto schema = tool.value(name, json()); schema.is_object())
      function["parameters"] = schema;
  return {{"type", "function"}, {"function", function}};
}

}  // namespace

std::string tools_in_words(const json& tools) {
  std::string words = "You may call these tools:\n<tools>\n";
  for (const auto& tool : tools) {
    if (!tool.is_object() || !tool.value("name", json()).is_string()) continue;
    words += function_of(tool).dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  }
  return words +
         "</tools>\nCall one tool at a time, with its name and its arguments:\n"
         "<tool_call>{\"name\": ..., \"arguments\": {...}}</tool_call>";
}

}  // namespace troupe::openenv
