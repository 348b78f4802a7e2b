#pragma once
// The manual page of a program.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace troupe::command {

/// Returns the manual page in the format of man(7), from what describe_command_line has returned.
std::string manual_page(const nlohmann::ordered_json& description);

}  // namespace troupe::command
