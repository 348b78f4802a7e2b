#include "actors/openenv/client/provider.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/system/system.hpp"
#include "tests/eventually.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using namespace std::chrono_literals;

/// Healthy, and says which process it is. Its child would outlive it.
constexpr const char* healthy_server = R"py(
import http.server, os, subprocess, sys
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'{"status":"healthy"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
child = subprocess.Popen(["sleep", "1000"])
print("pids", os.getpid(), child.pid, flush=True)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Health).serve_forever()
)py";

process_options python_server() {
  return {.command = {"/usr/bin/python3", "-c", healthy_server, "{port}"}};
}

std::vector<pid_t> pids_in(const std::string& log) {
  int first = 0, second = 0;
  const auto at = log.find("pids ");
  if (at == log.npos || std::sscanf(log.c_str() + at, "pids %d %d", &first, &second) != 2)
    return {};
  return {first, second};
}

bool lives(pid_t pid) { return ::kill(pid, 0) == 0; }

/// Whether all of them end within five seconds.
bool all_end(const std::vector<pid_t>& pids) {
  return testing::eventually([&] { return std::ranges::none_of(pids, lives); }, 5s);
}

TEST_CASE("openenv providers: processes are healthy when they are handed over, and end with it",
          "[openenv]") {
  troupe::system sys;
  std::vector<pid_t> pids;
  {
    auto options = python_server();
    options.servers = 2;
    const auto servers = sys.run(from_process(options));
    REQUIRE(servers.urls().size() == 2);
    CHECK(servers.urls()[0] != servers.urls()[1]);
    for (const std::size_t i : {0, 1}) {
      const auto of_one = pids_in(servers.log(i));
      REQUIRE(of_one.size() == 2);
      pids.insert(pids.end(), of_one.begin(), of_one.end());
    }
    CHECK(std::ranges::all_of(pids, lives));
  }
  CHECK(all_end(pids));
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string why_not(process_options options) {
  troupe::system sys;
  return testing::message_of<server_failed>([&] { sys.run(from_process(std::move(options))); });
}

TEST_CASE("openenv providers: a server that ends, or is never healthy, is told with its last lines",
          "[openenv]") {
  CHECK(why_not({.command = {"sh", "-c", "echo no such game >&2; exit 3"}}) ==
        "openenv: sh ended before it was healthy; its last lines:\n  no such game\n"
        "  ended with exit code 3");
  CHECK(why_not(
            {.command = {"sh", "-c", "echo waiting; exec sleep 1000"}, .health_timeout = 300ms}) ==
        "openenv: sh was not healthy within 300 ms, the start_timeout of its options; its last "
        "lines:\n  waiting");
  const auto missing = why_not({.command = {"/no/such/program"}});
  CHECK(missing.find("ended with exit code 127") != missing.npos);
}

TEST_CASE("openenv providers: options out of range are refused", "[openenv]") {
  troupe::system sys;
  CHECK_THROWS_AS(sys.run(from_process({.command = {}})), std::invalid_argument);
  CHECK_THROWS_AS(sys.run(from_process({.command = {"true"}, .servers = 0})),
                  std::invalid_argument);
  CHECK_THROWS_AS(sys.run(from_docker_image({.image = "--privileged"})), std::invalid_argument);
  CHECK_THROWS_AS(sys.run(from_docker_image({.image = "a", .tool = {"docker; rm"}})),
                  std::invalid_argument);
  CHECK_THROWS_WITH(
      sys.run(from_docker_image({.image = "a", .environment = {"KEY=secret\nOTHER=1"}})),
      "openenv: environment: expected NAME=value on one line, got a line break in KEY");
}

TEST_CASE("openenv providers: containers are run and removed by whatever command", "[openenv]") {
  char folder[] = "/tmp/troupe_fake_docker_XXXXXX";
  REQUIRE(mkdtemp(folder));
  const std::string tool = std::string(folder) + "/docker";
  // `run` serves where -p says; each call is noted, and what it reads as variables.
  const std::string script = "#!/bin/sh\ncd " + std::string(folder) +
                             "\necho \"$@\" >> calls\n[ \"$1\" = run ] || exit 0\n"
                             "[ -e /dev/fd/3 ] && cat /dev/fd/3 > variables\n"
                             "while [ \"$1\" != -p ]; do shift; done\nport=${2#127.0.0.1:}\n"
                             "exec /usr/bin/python3 $(dirname \"$0\")/server.py \"${port%:*}\"\n";
  write_file(std::string(folder) + "/server.py", healthy_server);
  write_file(tool, script);
  REQUIRE(::chmod(tool.c_str(), 0700) == 0);
  troupe::system sys;
  {
    const auto servers =
        sys.run(from_docker_image({.image = "echo-env:latest",
                                   .tool = {tool},
                                   .environment = {"GAME=catch", "KEY= a secret=1 "},
                                   .run_options = {"--memory", "1g"}}));
    CHECK(servers.urls().size() == 1);
  }
  const auto calls = read_file(std::string(folder) + "/calls");
  CHECK(calls.starts_with("run --rm --name troupe-"));
  CHECK(calls.find(":8000 --env-file /dev/fd/3 --memory 1g echo-env:latest\nkill troupe-") !=
        calls.npos);
  CHECK(read_file(std::string(folder) + "/variables") == "GAME=catch\nKEY= a secret=1 \n");
  CHECK(calls.find("\nrm -f troupe-") != calls.npos);
  std::filesystem::remove_all(folder);
}

// Run by the test below, in a process of its own that is killed.
TEST_CASE("the holder of a server", "[.holder]") {
  troupe::system sys;
  const auto servers = sys.run(from_process(python_server()));
  std::printf("%s", servers.log(0).c_str());
  std::fflush(stdout);
  for (;;) ::pause();
}

TEST_CASE("openenv providers: after SIGKILL of the program no server is left", "[openenv]") {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const char* arguments[] = {"holder", "[.holder]", nullptr};
  pid_t holder = 0;
  REQUIRE(posix_spawn(&holder, "/proc/self/exe", &actions, nullptr, const_cast<char**>(arguments),
                      environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string said;
  char block[512];
  while (pids_in(said).empty()) {
    const auto got = ::read(ends[0], block, sizeof block);
    if (got <= 0) break;
    said.append(block, static_cast<std::size_t>(got));
  }
  const auto pids = pids_in(said);
  REQUIRE(pids.size() == 2);
  CHECK(std::ranges::all_of(pids, lives));
  ::kill(holder, SIGKILL);
  CHECK(all_end(pids));
  ::waitpid(holder, nullptr, 0);
  ::close(ends[0]);
}

}  // namespace
}  // namespace troupe::openenv
