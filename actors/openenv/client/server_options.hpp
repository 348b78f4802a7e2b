#pragma once
// The options of the servers of a run, as its configuration has them: env.options for environments
// of numbers, task.world_options for worlds in words.

#include <string>
#include <string_view>
#include <vector>

#include "actors/openenv/client/client.hpp"
#include "runtime/config/options_schema.hpp"

namespace troupe::openenv {

struct server_options {
  double connect_timeout = 10;              ///< In seconds; see client_options.
  double capacity_timeout = 60;             ///< In seconds; see client_options.
  double keepalive = 40;                    ///< In seconds; see client_options.
  std::vector<std::string> command = {};    ///< Starts servers; see process_options.
  std::string image = {};                   ///< Starts containers; see image_options.
  std::string tool = "docker";              ///< The container tool and its options.
  int port = 8000;                          ///< The port that the image listens at.
  std::vector<std::string> variables = {};  ///< The variables of the server, "NAME=value".
  int servers = 1;                          ///< The number of servers to start.
  double start_timeout = 120;               ///< In seconds, for servers to become healthy.

  bool starts_servers() const { return !command.empty() || !image.empty(); }
};

/// Describes the members of server_options in an options struct that derives from it.
template <class Options>
void describe_servers(options_schema<Options>& s) {
  const auto seconds = [&](const char* name, double server_options::* member, double least) {
    auto field = s.field(name, member);
    field.at_most(86'400).unit("seconds");
    return least > 0 ? field.above(0) : field.at_least(0);
  };
  seconds("connect_timeout", &server_options::connect_timeout, 1)
      .help("How long connecting to a server may take.");
  seconds("capacity_timeout", &server_options::capacity_timeout, 0)
      .help(
          "How long an episode waits while every server is full. The time begins anew while other "
          "episodes of this process go on, up to ten times.");
  seconds("keepalive", &server_options::keepalive, 1)
      .help(
          "A silent connection is pinged after half of this time, and closed after all of it if "
          "the "
          "server has answered pings before.");
  s.field("command", &server_options::command)
      .items(0, 256)
      .example(R"(["python3","server.py","--port","{port}"])")
      .help(
          "The command that starts a server for the run, with {port} for its port. Servers end "
          "with "
          "the program.");
  s.field("image", &server_options::image)
      .help("The container image of a server that is started for the run.");
  s.field("tool", &server_options::tool)
      .help("The command of the container tool, such as docker or podman.");
  s.field("port", &server_options::port)
      .at_least(1)
      .at_most(65'535)
      .help("The port that the image listens at.");
  s.field("variables", &server_options::variables)
      .items(0, 256)
      .example(R"(["OPENSPIEL_GAME=catch"])")
      .help("The environment variables of a started server, NAME=value.");
  s.field("servers", &server_options::servers)
      .at_least(1)
      .at_most(1024)
      .help("The number of servers that are started.");
  seconds("start_timeout", &server_options::start_timeout, 1)
      .help("How long a started server may take to become healthy.");
  s.rule("image", "none beside command",
         [](const Options& o) { return o.image.empty() || o.command.empty(); });
}

/// The prefix of the names of environments on servers.
inline constexpr std::string_view server_prefix = "openenv:";

/// Returns the options of a client of the servers that `name` lists, openenv:URL or
/// openenv:URL,URL. With a command or an image the name is any other one, such as openenv:catch,
/// and the servers are started now, once for each process and such options; they end with this
/// process. Blocks while they start. Throws std::invalid_argument, and server_failed.
/// `section`: the place of the options in the configuration, which messages name.
client_options servers_of(std::string_view name, const server_options& options,
                          const std::string& section);
/// Checks the name and the options in the same way, and starts no server.
void check_servers(std::string_view name, const server_options& options);

}  // namespace troupe::openenv
