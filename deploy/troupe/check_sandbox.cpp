#include "actors/sandbox/check_sandbox.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithms/program/text_table.hpp"
#include "deploy/troupe/commands.hpp"

namespace troupe::command {

int check_sandbox(const check_sandbox_arguments& arguments) {
  const auto checks = troupe::check_sandbox();
  const bool is_met = std::ranges::all_of(
      checks, [](const auto& check) { return check.is_met || !check.is_needed; });
  if (arguments.json) {
    nlohmann::json told = nlohmann::json::array();
    for (const auto& check : checks)
      told.push_back({{"what", check.what},
                      {"met", check.is_met},
                      {"needed", check.is_needed},
                      {"found", check.found}});
    std::printf("%s\n", nlohmann::json{{"sandbox", is_met}, {"checks", told}}.dump().c_str());
    return is_met ? 0 : 1;
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& check : checks)
    rows.push_back({check.what,
                    check.is_met      ? "yes"
                    : check.is_needed ? "MISSING"
                                      : "no",
                    check.found});
  std::printf("%s%s\n", text_table(rows, 90).c_str(),
              is_met ? "Programs that a model writes run in sandboxes on this machine."
                     : "Programs that a model writes are not run on this machine, other than with "
                       "--allow-unsandboxed-code.");
  return is_met ? 0 : 1;
}

}  // namespace troupe::command
