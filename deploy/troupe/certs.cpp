#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <vector>

#include "algorithms/program/text_table.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/base/print_error.hpp"
#include "runtime/cluster/certificates.hpp"

namespace troupe::command {

namespace {

using entry = std::pair<std::filesystem::path, certificate_facts>;

std::string time_text(std::chrono::sys_seconds time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", time);
}

nlohmann::ordered_json json_of(const entry& of) {
  const auto& [path, facts] = of;
  return {{"certificate", path.string()},
          {"name", facts.name},
          {"role", facts.role},
          {"hosts", facts.hosts},
          {"not_before", time_text(facts.not_before)},
          {"not_after", time_text(facts.not_after)}};
}

std::string table_of(const std::vector<entry>& all) {
  std::vector<std::vector<std::string>> rows{{"name", "role", "valid until", "hosts", "file"}};
  const auto now = std::chrono::system_clock::now();
  for (const auto& [path, facts] : all) {
    auto until = fmt::format("{:%Y-%m-%d}", facts.not_after);
    if (facts.not_after <= now) until += " (expired)";
    const auto hosts = facts.hosts.empty() ? "-" : fmt::format("{}", fmt::join(facts.hosts, " "));
    rows.push_back({facts.name, facts.role, until, hosts, path.string()});
  }
  return text_table(rows);
}

/// Runs `init`, `add` or `show`. Returns the certificates that were made or that exist.
std::vector<entry> work(const certs_arguments& arguments) {
  using verb = certs_arguments::verb;
  if (arguments.what == verb::show) return list_certificates(arguments.directory);
  std::filesystem::path file;
  if (arguments.what == verb::init) {
    make_authority(arguments.directory, std::chrono::days(arguments.authority_days),
                   arguments.force);
    file = std::filesystem::path(arguments.directory) / "ca.pem";
  } else {
    file = issue_certificate(arguments.directory,
                             {.name = arguments.name,
                              .role = arguments.role,
                              .hosts = arguments.hosts,
                              .valid_for = std::chrono::days(arguments.days)},
                             arguments.force) /
           "cert.pem";
  }
  return {{file, read_certificate(file)}};
}

void revoke(const certs_arguments& arguments) {
  const auto files = revoke_certificate(arguments.directory, arguments.name);
  if (arguments.json) {
    auto copies = nlohmann::ordered_json::array();
    for (const auto& copy : files.copies) copies.push_back(copy.string());
    const nlohmann::ordered_json line{
        {"revoked", arguments.name}, {"list", files.list.string()}, {"copies", copies}};
    std::puts(line.dump().c_str());
    return;
  }
  std::printf("%s is revoked in %s and its copies:\n", arguments.name.c_str(), files.list.c_str());
  for (const auto& copy : files.copies) std::printf("  %s\n", copy.c_str());
  std::printf(
      "copy %s into the folder that each process on another machine has as --certs; controllers "
      "refuse the process from then on, and end its link within a minute\n",
      files.list.c_str());
}

}  // namespace

int certs(const certs_arguments& arguments) {
  try {
    if (arguments.what == certs_arguments::verb::revoke) {
      revoke(arguments);
      return 0;
    }
    const auto found = work(arguments);
    if (arguments.json) {
      auto list = nlohmann::ordered_json::array();
      for (const auto& one : found) list.push_back(json_of(one));
      const nlohmann::ordered_json line{{"certificates", list}};
      std::puts(line.dump().c_str());
    } else {
      std::printf("%s", table_of(found).c_str());
      if (arguments.what == certs_arguments::verb::add) {
        std::printf("give this process --certs %s\n", found[0].first.parent_path().c_str());
      }
    }
    return 0;
  } catch (const std::exception& e) {
    print_error("troupe certs", e.what());
    return 2;
  }
}

}  // namespace troupe::command
