#pragma once
// MCP tools in words.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace troupe::openenv {

/// Returns what a model is told about its tools: the name, the description and the JSON Schema of
/// the arguments of each, and how it calls one (parse_tool_call). `tools` is a list as MCP's
/// tools/list and OpenEnv's list_tools give it. What has no name is left out.
std::string tools_in_words(const nlohmann::json& tools);

}  // namespace troupe::openenv
