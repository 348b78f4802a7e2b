#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace troupe::detail {

/// What a routed call costs by the number of replicas and callers, of child processes, and of nodes
/// on this machine. Prints a table; returns its rows.
nlohmann::json record_scale();

/// The first argument of a process that is a node; the second is the controller's port, the third
/// its name.
inline constexpr const char* scale_node = "node";
[[noreturn]] void be_scale_node(const std::string& port, const std::string& name);

}  // namespace troupe::detail
