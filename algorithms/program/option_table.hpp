#pragma once
// The options of an algorithm: the table that the command `config` prints, and their names.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "algorithms/program/command_line.hpp"

namespace troupe::command {

/// The options of a configuration's schema as a table with one line for each: its name on the
/// command line, default, range, and meaning with the unit. Options outside of sections come first.
std::string option_table(const nlohmann::json& schema);

/// The options of a configuration's schema for completion: "trainer.lr=" with its default and
/// meaning, and each value of those that have few, such as "mode=async".
std::vector<known_name> option_names(const nlohmann::json& schema);

}  // namespace troupe::command
