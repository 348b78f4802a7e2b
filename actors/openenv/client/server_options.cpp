#include "actors/openenv/client/server_options.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>

#include "actors/openenv/client/provider.hpp"
#include "actors/openenv/client/waiting.hpp"
#include "actors/openenv/protocol/url.hpp"
#include "runtime/base/log.hpp"

namespace troupe::openenv {

namespace {

std::chrono::milliseconds in_milliseconds(double seconds) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream from(text);
  std::vector<std::string> words;
  for (std::string word; from >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> listed(std::string_view name) {
  std::vector<std::string> urls{""};
  for (const char c : name.substr(server_prefix.size())) {
    if (c == ',')
      urls.emplace_back();
    else
      urls.back() += c;
  }
  return urls;
}

running_servers start(const server_options& options) {
  const auto count = static_cast<std::size_t>(options.servers);
  const auto limit = in_milliseconds(options.start_timeout);
  const std::string program =
      options.command.empty() ? options.image : fmt::format("{}", fmt::join(options.command, " "));
  log::info("OpenEnv servers are started, and the run waits until they are healthy",
            {{"servers", count}, {"program", program}, {"start_timeout_s", options.start_timeout}});
  if (!options.command.empty())
    return run_here(from_process({.command = options.command,
                                  .environment = options.variables,
                                  .servers = count,
                                  .health_timeout = limit}));
  return run_here(from_docker_image({.image = options.image,
                                     .tool = words_of(options.tool),
                                     .environment = options.variables,
                                     .container_port = static_cast<std::uint16_t>(options.port),
                                     .servers = count,
                                     .health_timeout = limit}));
}

/// The servers that this process has started, by their options. It is never destroyed: the servers
/// end when the process does, however it ends (supervised_process).
std::vector<std::string> started(const server_options& options) {
  static std::mutex mutex;
  static auto& running = *new std::map<std::string, running_servers>;
  const std::lock_guard lock(mutex);
  std::string key =
      fmt::format("{}\n{}\n{}\n{}", options.image, options.tool, options.port, options.servers);
  for (const auto* words : {&options.command, &options.variables})
    for (const auto& word : *words) key += '\n' + word;
  auto found = running.find(key);
  if (found == running.end()) found = running.emplace(key, start(options)).first;
  return found->second.urls();
}

}  // namespace

void check_servers(std::string_view name, const server_options& options) {
  const bool has_url = name.find("://") != name.npos;
  if (options.starts_servers() && has_url)
    throw std::invalid_argument(
        fmt::format("{}: expected a name without an address, such as openenv:mine, beside the "
                    "option {}, which starts servers",
                    name, options.command.empty() ? "image" : "command"));
  if (options.starts_servers()) return;
  if (options.servers != 1 || !options.variables.empty())
    throw std::invalid_argument(
        fmt::format("{}: servers and variables: expected command or image beside them, for servers "
                    "that run already take none",
                    name));
  for (const auto& url : listed(name)) parse_url(url);
}

client_options servers_of(std::string_view name, const server_options& options,
                          const std::string& section) {
  check_servers(name, options);
  return {.urls = options.starts_servers() ? started(options) : listed(name),
          .connect_timeout = in_milliseconds(options.connect_timeout),
          .capacity_timeout = in_milliseconds(options.capacity_timeout),
          .keepalive = in_milliseconds(options.keepalive),
          .named_by = {.connect = section + ".connect_timeout",
                       .capacity = section + ".capacity_timeout"}};
}

}  // namespace troupe::openenv
