#pragma once
// Servers that a program starts by itself, from a command line or an image:
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

/// A server that was started never became healthy. The message ends with the last lines that it
/// wrote.
class server_failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Servers that were started, and are healthy. They end with this object, and also when this
/// process ends without destroying it, by SIGKILL too.
class running_servers {
 public:
  running_servers(running_servers&&) noexcept;
  running_servers& operator=(running_servers&&) noexcept;
  /// Waits for their end: about a second.
  ~running_servers();

  /// One for each: "http://127.0.0.1:41873".
  const std::vector<std::string>& urls() const;
  /// What the i-th has written last, at most 16 KiB.
  std::string log(std::size_t i) const;

 private:
  friend class server_starter;
  struct fleet;
  explicit running_servers(std::unique_ptr<fleet> fleet);
  std::unique_ptr<fleet> fleet_;
};

struct process_options {
  /// The program and its arguments. "{port}" in them stands for the port that the server is to
  /// listen at, on 127.0.0.1.
  std::vector<std::string> command;
  std::vector<std::string> environment = {};  ///< "NAME=value"; "{port}" counts here, too.
  std::string directory = "";                 ///< Where it runs; empty: here.
  std::size_t servers = 1;                    ///< So many, each at a port of its own.
  std::chrono::milliseconds health_timeout{60'000};
};
/// Starts them and waits until all answer GET /health. Throws server_failed, and
/// std::invalid_argument for options out of range.
task<running_servers> from_process(process_options options);

struct image_options {
  std::string image;
  /// Any command that understands docker's run, kill and rm, with options of its own: {"podman",
  /// "--runtime", "runc"}.
  std::vector<std::string> tool = {"docker"};
  /// "NAME=value" on one line, in the container. The tool reads them at /dev/fd/3, as every user
  /// can read its command line; sudo, which closes descriptors, does not pass them on.
  std::vector<std::string> environment = {};
  /// More options of `run`, such as {"--memory", "1g", "--runtime", "runc"}. In its command line.
  std::vector<std::string> run_options = {};
  std::vector<std::string> command = {};              ///< In the place of the image's own.
  std::uint16_t container_port = 8000;                ///< Where the image listens.
  std::size_t servers = 1;                            ///< So many containers.
  std::chrono::milliseconds health_timeout{120'000};  ///< Fetching the image included.
};
/// The same with containers. They are removed when they end.
task<running_servers> from_docker_image(image_options options);

}  // namespace troupe::openenv
