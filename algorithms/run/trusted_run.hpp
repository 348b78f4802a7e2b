#pragma once
// Runs of others: what their configuration has this process load.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace troupe {

/// Throws std::invalid_argument if the configuration of the run in `folder` names code, and
///
/// - the code lies in that folder: who unpacks a run of somebody else has it there;
/// - or the working directory, from which Python imports modules, lies there;
/// - or another user than this one and root owns the folder or its config.json, or may write to
///   them.
///
/// Code is a plug-in, an environment, a wrapper, a reward or a task in Python, a Python
/// interpreter, and the tool and the image of a container. `expected` says what the user can give,
/// such as "--trust". No code is loaded.
void require_trust(const std::filesystem::path& folder, const nlohmann::json& document,
                   const std::string& expected);

}  // namespace troupe
