#pragma once
// The table of options that the command `config` prints.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace troupe::command {

/// The options of a configuration's schema as a table with one line for each: its name on the
/// command line, default, range, and meaning with the unit. Options outside of sections come first.
std::string option_table(const nlohmann::json& schema);

}  // namespace troupe::command
