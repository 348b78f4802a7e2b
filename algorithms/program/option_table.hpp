#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace troupe::command {

/// The options of a configuration's schema, a line each: how the command line names it, default,
/// what it may be, unit and meaning. Those outside of sections first.
std::string option_table(const nlohmann::json& schema);

}  // namespace troupe::command
