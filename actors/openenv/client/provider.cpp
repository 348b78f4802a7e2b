#include "actors/openenv/client/provider.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "actors/openenv/client/http_call.hpp"
#include "actors/openenv/client/io_thread.hpp"
#include "actors/openenv/client/supervised_process.hpp"
#include "actors/openenv/protocol/protocol.hpp"
#include "runtime/base/descriptor.hpp"
#include "runtime/base/random_bits.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/service/external_result.hpp"

namespace troupe::openenv {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr auto health_every = 100ms;
constexpr milliseconds health_answer{2000};
constexpr int ports_tried = 3;

/// Returns a port that is free now. Another program may take it before the server does.
std::uint16_t free_port() {
  const troupe::detail::descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
                                          "open a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.number(), any, size) != 0 || ::getsockname(socket.number(), any, &size) != 0)
    throw std::system_error(errno, std::generic_category(), "openenv: cannot find a free port");
  return ntohs(address.sin_port);
}

std::string with_port(std::string text, std::uint16_t port) {
  const std::string mark = "{port}";
  for (auto at = text.find(mark); at != text.npos; at = text.find(mark, at))
    text.replace(at, mark.size(), std::to_string(port));
  return text;
}

std::vector<std::string> with_port(std::vector<std::string> texts, std::uint16_t port) {
  for (auto& text : texts) text = with_port(std::move(text), port);
  return texts;
}

void require(bool good, const std::string& what) {
  if (!good) throw std::invalid_argument("openenv: " + what);
}

struct running_server {
  std::unique_ptr<supervised_process> process;
  std::string url;
};

task<bool> is_healthy(std::shared_ptr<io_thread> thread, std::string url) {
  external_result<http_answer> answer("a server's health");
  start_http_call(*thread, {.url = parse_url(url), .path = "/health", .timeout = health_answer},
                  [answer](outcome<http_answer> got) {
                    got ? answer.set(std::move(got).value()) : answer.set({});
                  });
  const auto got = co_await answer.wait();
  if (got.status != 200) co_return false;
  try {
    const auto said = parse_text(got.body, 1 << 16);
    co_return said.is_object() && said.value("status", "") == "healthy";
  } catch (const std::exception&) {
    co_return false;
  }
}

/// Makes the program of a server for a given port.
using plan = std::function<program(std::uint16_t port)>;

std::string last_words(const supervised_process& of) {
  auto log = of.log();
  while (log.ends_with('\n')) log.pop_back();
  if (log.empty()) return "; it wrote nothing";
  std::string lines;
  for (std::size_t begin = 0; begin <= log.size();) {
    const auto end = std::min(log.find('\n', begin), log.size());
    lines += "\n  " + troupe::detail::printable(log.substr(begin, end - begin), 500);
    begin = end + 1;
  }
  return "; its last lines:" + lines;
}

task<running_server> start_one(std::shared_ptr<io_thread> thread, plan make, std::string name,
                               milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  for (int tries = 1;; ++tries) {
    const auto port = free_port();
    running_server made{std::make_unique<supervised_process>(thread, make(port)),
                        "http://127.0.0.1:" + std::to_string(port)};
    std::string why;
    while (why.empty()) {
      const bool healthy = co_await is_healthy(thread, made.url);
      // If the process has ended, a healthy answer comes from another program at this port.
      if (made.process->ended()) {
        why = "ended before it was healthy";
      } else if (healthy) {
        co_return made;
      } else if (std::chrono::steady_clock::now() >= until) {
        why = "was not healthy within " + std::to_string(limit.count()) +
              " ms, the start_timeout of its options";
      } else {
        co_await sleep_for(health_every);
      }
    }
    const bool port_taken = made.process->log().find("ddress already in use") != std::string::npos;
    if (!port_taken || tries == ports_tried)
      throw server_failed("openenv: " + name + ' ' + why + last_words(*made.process));
  }
}

std::string unique_name() {
  return "troupe-" + std::to_string(::getpid()) + '-' + troupe::detail::random_uuid();
}

/// Returns the text of the file for the option --env-file. In the command line every user could
/// read the values.
std::string env_file_of(const std::vector<std::string>& variables) {
  std::string lines;
  for (const auto& variable : variables) {
    require(variable.find_first_of("\r\n") == variable.npos,
            "environment: expected NAME=value on one line, got a line break in " +
                variable.substr(0, variable.find('=')));
    lines += variable + '\n';
  }
  return lines;
}

}  // namespace

struct running_servers::fleet {
  std::vector<running_server> servers;
  std::vector<std::string> urls;
};

running_servers::running_servers(std::unique_ptr<fleet> fleet) : fleet_(std::move(fleet)) {}
running_servers::running_servers(running_servers&&) noexcept = default;
running_servers& running_servers::operator=(running_servers&&) noexcept = default;
running_servers::~running_servers() = default;

const std::vector<std::string>& running_servers::urls() const { return fleet_->urls; }
std::string running_servers::log(std::size_t i) const {
  return fleet_->servers.at(i).process->log();
}

/// Starts the servers of a running_servers.
class server_starter {
 public:
  static task<running_servers> start(plan make, std::string name, std::size_t count,
                                     milliseconds limit) {
    require(count > 0, "servers: expected at least 1, got 0");
    require(limit.count() > 0, "health_timeout: expected more than 0 ms, got " +
                                   std::to_string(limit.count()) + " ms");
    auto thread = io_thread::of_this_process();
    std::vector<task<running_server>> starting;
    for (std::size_t i = 0; i < count; ++i)
      starting.push_back(start_one(thread, make, name, limit));
    auto made = std::make_unique<running_servers::fleet>();
    made->servers = co_await all(std::move(starting));
    for (const auto& server : made->servers) made->urls.push_back(server.url);
    co_return running_servers(std::move(made));
  }
};

task<running_servers> from_process(process_options options) {
  require(!options.command.empty(), "command: expected a program, got none");
  const std::string name = options.command[0];
  const auto count = options.servers;
  const auto limit = options.health_timeout;
  plan make = [options = std::move(options)](std::uint16_t port) {
    return program{.command = with_port(options.command, port),
                   .environment = with_port(options.environment, port),
                   .directory = options.directory,
                   .cleanup = ""};
  };
  return server_starter::start(std::move(make), name, count, limit);
}

task<running_servers> from_docker_image(image_options options) {
  require(!options.image.empty() && options.image[0] != '-',
          "image: expected the name of an image, got \"" + options.image + '"');
  // The words become part of a shell command, so only plain characters are allowed.
  std::string tool;
  for (const auto& word : options.tool) tool += word + ' ';
  const auto plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("/._=- ", c); };
  require(!options.tool.empty() && std::ranges::all_of(tool, plain),
          "tool: expected a command such as docker or podman, got \"" + tool + '"');
  require(options.container_port > 0, "container_port: expected 1 to 65535, got 0");
  const std::string name = tool + "run " + options.image;
  const auto count = options.servers;
  const auto limit = options.health_timeout;
  const auto variables = env_file_of(options.environment);
  plan make = [options = std::move(options), tool, variables](std::uint16_t port) {
    const auto container = unique_name();
    program made{.command = options.tool,
                 .environment = {},
                 .directory = "",
                 .file = variables,
                 .cleanup = tool + "kill " + container + "; " + tool + "rm -f " + container};
    for (const auto& word :
         {std::string("run"), std::string("--rm"), std::string("--name"), container,
          std::string("--label"), std::string("org.troupe.server=1"), std::string("-p"),
          "127.0.0.1:" + std::to_string(port) + ':' + std::to_string(options.container_port)})
      made.command.push_back(word);
    if (!variables.empty()) {
      made.command.push_back("--env-file");
      made.command.push_back(program::file_path);
    }
    made.command.insert(made.command.end(), options.run_options.begin(), options.run_options.end());
    made.command.push_back(options.image);
    made.command.insert(made.command.end(), options.command.begin(), options.command.end());
    return made;
  };
  return server_starter::start(std::move(make), name, count, limit);
}

}  // namespace troupe::openenv
