#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace troupe::detail {

class link;

/// What calls to replicas cost that are in child processes, and on a node of this machine. Prints
/// them; returns the figures by their names.
nlohmann::json measure_replicas();

/// The first argument of the process that is the node.
inline constexpr const char* node_part = "node";
/// The node's process: joins a controller on this machine's port, and serves a bare stream, whose
/// port it tells its parent.
[[noreturn]] void be_node(const std::shared_ptr<link>& parent, const std::string& port);

}  // namespace troupe::detail
