#pragma once
// Starts OpenEnv servers from a command line or a container image:
//
//   auto servers = co_await openenv::from_process(
//       {.command = {"python3", "-m", "uvicorn", "server.app:app", "--port", "{port}"}});
//   auto servers = co_await openenv::from_docker_image({.image = "echo-env:latest"});
//   openenv::client games({.urls = servers.urls()});

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/coroutine/task.hpp"

namespace troupe::openenv {

/// Thrown if a started server does not become healthy. The message ends with the server's last
/// lines of output.
class server_failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Servers that were started and are healthy. They end with this object. They also end if this
/// process ends without destroying it, even by SIGKILL.
class running_servers {
 public:
  running_servers(running_servers&&) noexcept;
  running_servers& operator=(running_servers&&) noexcept;
  /// Ends the servers and waits for that, about a second.
  ~running_servers();

  /// Returns the URL of each server, such as "http://127.0.0.1:41873".
  const std::vector<std::string>& urls() const;
  /// Returns the last output of server i, at most 16 KiB.
  std::string log(std::size_t i) const;

 private:
  friend class server_starter;
  struct fleet;
  explicit running_servers(std::unique_ptr<fleet> fleet);
  std::unique_ptr<fleet> fleet_;
};

struct process_options {
  /// The program and its arguments. "{port}" in them is replaced by the port that the server must
  /// listen at, on 127.0.0.1.
  std::vector<std::string> command;
  std::vector<std::string> environment = {};  ///< "NAME=value"; "{port}" is replaced here too.
  std::string directory = "";                 ///< The working directory; empty means this one.
  std::size_t servers = 1;  ///< The number of servers, each with a port of its own.
  /// The time limit for the servers to become healthy.
  std::chrono::milliseconds health_timeout{60'000};
};
/// Starts the servers and waits until all answer GET /health. Throws server_failed, and
/// std::invalid_argument for options out of range.
task<running_servers> from_process(process_options options);

struct image_options {
  std::string image;
  /// The container tool: any command that understands docker's run, kill and rm, with its options:
  /// {"podman", "--runtime", "runc"}.
  std::vector<std::string> tool = {"docker"};
  /// Variables of the container, "NAME=value" on one line each. The tool reads them at /dev/fd/3,
  /// because every user can read its command line. sudo closes descriptors, so it does not pass
  /// them on.
  std::vector<std::string> environment = {};
  /// More options of `run`, such as {"--memory", "1g", "--runtime", "runc"}. They are visible in
  /// its command line.
  std::vector<std::string> run_options = {};
  std::vector<std::string> command = {};              ///< Replaces the image's own command.
  std::uint16_t container_port = 8000;                ///< The port that the image listens at.
  std::size_t servers = 1;                            ///< The number of containers.
  std::chrono::milliseconds health_timeout{120'000};  ///< Includes fetching the image.
};
/// Starts containers and waits until all answer GET /health. A container is removed when it ends.
/// Throws as from_process.
task<running_servers> from_docker_image(image_options options);

}  // namespace troupe::openenv
