#include "algorithms/run/plugin_algorithm.hpp"

#include <nlohmann/json.hpp>

namespace troupe::detail {

std::string rule_schema(const struct_kind& kind, const void* defaults) {
  nlohmann::json schema;
  kind.describe_with(schema, defaults);
  add_sentences(schema);
  return schema.dump();
}

rule_options_read read_rule_options(const struct_kind& kind, const std::string& json, void* values,
                                    const void* defaults) {
  rule_options_read result;
  try {
    kind.read(parse_json(json), values, "/rule", {});
    nlohmann::json complete;
    kind.write(values, complete, "/rule");
    result.json = complete.dump();
    result.idle = idle_options(kind, values, values, defaults);
  } catch (const config_error& error) {
    result.refused = true;
    result.pointer = error.pointer();
    const auto before = error.pointer().empty() ? std::string("configuration") : error.pointer();
    result.message = std::string(error.what()).substr(before.size() + 2);  // without "POINTER: "
    result.fault = error.fault();
  }
  return result;
}

}  // namespace troupe::detail
