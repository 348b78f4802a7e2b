// Programs that try to leave their sandbox, or to exceed its limits: escapes [--json]
// [--unsandboxed] [NAME...]
//
// Each file of attempts/ is one. It has escaped if it says so, or if the secret of this process
// comes back with its output or files, a listener of this machine hears of it, a process or a file
// of it is left, the next run finds anything, a run beside it fails, or its run exceeds a limit.
// --unsandboxed runs the attempts by a coder without a sandbox, to show that they find something.
// Closes with `N passed, N failed`.

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "actors/coder/coder.hpp"
#include "actors/coder/function_tests.hpp"
#include "actors/sandbox/sandboxed.hpp"
#include "runtime/base/descriptor.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/system/system.hpp"
#include "tests/paths.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using detail::descriptor;

constexpr code_limits limits{.wall_s = 2,
                             .cpu_s = 2,
                             .memory_bytes = 384 << 20,
                             .processes = 4,
                             .open_files = 64,
                             .written_bytes = 8 << 20,
                             .files = 256,
                             .output_bytes = 64 << 10};
constexpr auto grace = 2s;  // for the start and the end of a run on a busy machine

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string random_word() {
  unsigned char bytes[12];
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes) throw std::runtime_error("no entropy");
  std::string word;
  for (const auto byte : bytes) word += "0123456789abcdef"[byte % 16];
  return word;
}

/// A socket of this machine that an attempt must not reach.
class listener {
 public:
  listener(const sockaddr* address, socklen_t length, int type)
      : type_(type),
        socket_(::socket(address->sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "listen") {
    if (::bind(socket_.number(), address, length) != 0 ||
        (type == SOCK_STREAM && ::listen(socket_.number(), 16) != 0))
      throw std::system_error(errno, std::generic_category(), "cannot listen");
  }
  static listener unix_socket(std::string path, int type) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, sizeof at.sun_path);
    const auto length = offsetof(sockaddr_un, sun_path) + path.size() + (path[0] != '\0');
    return {reinterpret_cast<const sockaddr*>(&at), static_cast<socklen_t>(length), type};
  }
  static listener loopback() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return {reinterpret_cast<const sockaddr*>(&at), sizeof at, SOCK_STREAM};
  }

  int port() const {
    sockaddr_in at{};
    socklen_t length = sizeof at;
    ::getsockname(socket_.number(), reinterpret_cast<sockaddr*>(&at), &length);
    return ntohs(at.sin_port);
  }
  /// True if anybody has come since the last call.
  bool has_heard() {
    char byte;
    if (type_ == SOCK_DGRAM) return ::recv(socket_.number(), &byte, 1, 0) >= 0;
    return bool(descriptor(::accept(socket_.number(), nullptr, nullptr)));
  }

 private:
  int type_;
  descriptor socket_;
};

/// What there is on this machine for an attempt to find.
class host {
 public:
  host() {
    std::string pattern = "/tmp/troupe-escapes-XXXXXX";
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot make a folder in /tmp");
    folder_ = pattern;
    ::chmod(folder_.c_str(), 0755);
    std::ofstream(folder_ / "secret") << secret_;
    ::setenv(secret_name_.c_str(), secret_.c_str(), 1);
    listeners_.push_back(listener::loopback());
    listeners_.push_back(listener::unix_socket('\0' + abstract_, SOCK_STREAM));
    listeners_.push_back(listener::unix_socket('\0' + abstract_ + "d", SOCK_DGRAM));
    listeners_.push_back(listener::unix_socket(folder_ / "socket", SOCK_STREAM));
    ::chmod((folder_ / "socket").c_str(), 0777);
  }
  ~host() { std::filesystem::remove_all(folder_); }

  std::string told() const {
    return nlohmann::json{
        {"secret_file", folder_ / "secret"},     {"secret_name", secret_name_},
        {"socket_path", folder_ / "socket"},     {"pid", ::getpid()},
        {"port", listeners_[0].port()},          {"abstract", abstract_},
        {"abstract_datagram", abstract_ + "d"},  {"mark", mark_},
        {"processes", limits.processes},         {"memory_bytes", limits.memory_bytes},
        {"written_bytes", limits.written_bytes}, {"files", limits.files},
        {"open_files", limits.open_files}}
        .dump();
  }
  const std::string& secret() const { return secret_; }
  const std::string& mark() const { return mark_; }

  /// What an attempt has left, or reached; empty if nothing.
  std::string traces() {
    for (auto& each : listeners_)
      if (each.has_heard()) return "a listener was reached";
    for (const char* folder : {"/tmp", "/dev/shm", "/var/tmp", "/run", "/dev"})
      if (std::filesystem::exists(std::filesystem::path(folder) / mark_))
        return std::string("a file is left in ") + folder;
    // The kernel needs a moment to end the processes of a namespace.
    for (const auto until = clock::now() + 1s;; std::this_thread::sleep_for(10ms)) {
      const auto found = marked_process();
      if (!found) return "";
      if (clock::now() > until) return "process " + *found + " is left";
    }
  }

 private:
  std::optional<std::string> marked_process() const {
    std::error_code ignored;
    for (const auto& each : std::filesystem::directory_iterator("/proc", ignored))
      if (text_of(each.path() / "cmdline").find(mark_) != std::string::npos)
        return each.path().filename().string();
    return std::nullopt;
  }

  const std::string secret_ = random_word(), secret_name_ = "TROUPE_" + random_word(),
                    mark_ = "mark" + random_word(), abstract_ = "troupe-" + random_word();
  std::filesystem::path folder_;
  std::vector<listener> listeners_;
};

/// How an attempt went.
struct verdict {
  bool ran = false;
  std::string escaped;  ///< how, or empty
  code_result result;
};

constexpr const char* looks_around =
    "import json, os\n"
    "print(sorted(os.listdir('/tmp') + os.listdir('/dev/shm')), json.loads('[1]'))\n";
constexpr const char* sibling =
    "import time\nopen('/tmp/sibling', 'w').write('here')\ntime.sleep(0.5)\nprint('alive')\n";

template <class Role>
task<verdict> attempt(service<Role> coders, host& on, std::string name, std::string preamble,
                      std::string text) {
  verdict v;
  const bool is_answer = name == "forged_results";
  const tested_function function{"answer", {{"[1]", '"' + random_word() + '"'}, {"[2]", "12345"}}};
  auto asked = is_answer ? call_function(text, function)
                         : code_request{.program = preamble + text, .input = on.told()};
  const bool has_files = std::is_same_v<Role, sandboxed_python>;
  if (has_files && !is_answer) asked.results = {"out", "link", "hard", "folder/hard/secret"};
  const auto began = clock::now();
  const auto ended = co_await all(coders.template try_route<&Role::run>(asked),
                                  coders.template try_route<&Role::run>(code_request{sibling}));
  const auto took = clock::now() - began;
  const auto& result = v.result = std::get<0>(ended).value();
  const auto& beside = std::get<1>(ended).value();
  v.ran = is_answer ? !result.reported.empty() : result.reported.starts_with("ran\n");
  const auto found = result.reported.find("escaped: ");
  if (found != std::string::npos)
    v.escaped = result.reported.substr(found + 9, result.reported.find('\n', found) - found - 9);
  const auto note = [&](bool is_so, std::string what) {
    if (is_so && v.escaped.empty()) v.escaped = std::move(what);
  };
  note(!is_answer && result.output.find(on.secret()) != std::string::npos, "the secret");
  for (const auto& [path, content] : result.files)
    note(content.find(on.secret()) != std::string::npos, "the secret by a file");
  note(is_answer && passed_share(result, function) > 0, "tests passed");
  note(name == "forged_end" && result.succeeded(), "success");
  note(took > std::chrono::duration<double>(limits.wall_s) + grace, "more than its time");
  note(result.output.size() > std::size_t(limits.output_bytes), "more output");
  note(beside.output != "alive\n",
       "the run beside it failed: " + std::string(name_of(beside.limit)) + " " + beside.errors);
  note(true, on.traces());
  const auto next = co_await coders.template route<&Role::run>(code_request{looks_around});
  note(next.output != "[] [1]\n", "the next run found " + next.output + next.errors);
  co_return v;
}

/// Starts this program once more, as a trainer that is killed while a program runs.
std::string outlive_trainer(const std::string& self, host& on, const std::string& text) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  const auto told = on.told();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl(self.c_str(), self.c_str(), "--victim", text.c_str(), told.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  char byte = 0;
  const bool has_started = ::read(ends[0], &byte, 1) == 1;
  std::this_thread::sleep_for(500ms);  // the program has executed its process with the mark
  const bool is_there = !on.traces().empty();
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  ::close(ends[0]);
  if (!has_started || !is_there) return "it did not run";
  return on.traces();
}

task<> be_victim(system& sys, std::string text, std::string told) {
  auto coders = co_await sys.serve<sandboxed_python>(
      {.name = "victim"}, sandbox_options{.limits = {.wall_s = 300, .cpu_s = 300, .processes = 4}});
  std::putchar('r');
  std::fflush(stdout);
  co_await coders.route<&sandboxed_python::run>(code_request{.program = text, .input = told});
}

struct arguments {
  bool json = false, unsandboxed = false;
  std::vector<std::string> names;
};

template <class Role>
task<int> run_all(service<Role> coders, arguments asked, std::string self) {
  host on;
  const std::filesystem::path folder = testing::source_path("tests/escapes");
  const auto preamble = text_of(folder / "preamble.py");
  std::vector<std::filesystem::path> files;
  for (const auto& each : std::filesystem::directory_iterator(folder / "attempts"))
    if (asked.names.empty() || std::ranges::count(asked.names, each.path().stem().string()))
      files.push_back(each.path());
  std::ranges::sort(files);
  int ran = 0, escaped = 0;
  nlohmann::json of_each = nlohmann::json::object();
  for (const auto& file : files) {
    const auto name = file.stem().string();
    verdict v;
    if (name == "killed_trainer" || name == "thread_exec") {
      const auto how = asked.unsandboxed ? "" : outlive_trainer(self, on, preamble + text_of(file));
      v = {.ran = how != "it did not run",
           .escaped = how == "it did not run" ? "" : how,
           .result = {}};
    } else {
      v = co_await attempt(coders, on, name, preamble, text_of(file));
    }
    ran += v.ran;
    escaped += !v.escaped.empty();
    std::printf("%-26s %-14s %s%s\n", name.c_str(), std::string(name_of(v.result.limit)).c_str(),
                v.ran ? "" : "did not run: ",
                v.ran ? v.escaped.c_str() : v.result.errors.substr(0, 400).c_str());
    std::fflush(stdout);
    of_each[name] = v.escaped;
  }
  const auto passed = std::max(0, ran - escaped);
  std::printf("%d passed, %d failed\n", passed, static_cast<int>(files.size()) - passed);
  if (asked.json)
    std::printf("%s\n", nlohmann::json{{"attempts", files.size()},
                                       {"ran", ran},
                                       {"succeeded", escaped},
                                       {"user", ::geteuid() == 0 ? "root" : "an ordinary user"},
                                       {"how", of_each}}
                            .dump()
                            .c_str());
  co_return escaped == 0 && ran == static_cast<int>(files.size()) ? 0 : 1;
}

task<int> run_as_asked(system& sys, arguments asked, std::string self) {
  if (asked.unsandboxed) {
    auto coders =
        co_await sys.serve<coder>({.name = "coder", .replicas = 2, .placement = placement::thread},
                                  coder_options{.allow_unsandboxed = true, .limits = limits});
    co_return co_await run_all(coders, asked, self);
  }
  auto coders = co_await sys.serve<sandboxed_python>(
      {.name = "coder"}, sandbox_options{.limits = limits, .parallel = 2});
  co_return co_await run_all(coders, asked, self);
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  troupe::arguments asked;
  if (argc == 4 && !std::strcmp(argv[1], "--victim")) {
    troupe::system sys;
    sys.run(troupe::be_victim(sys, argv[2], argv[3]));
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--json"))
      asked.json = true;
    else if (!std::strcmp(argv[i], "--unsandboxed"))
      asked.unsandboxed = true;
    else
      asked.names.push_back(argv[i]);
  }
  try {
    troupe::system sys;
    return sys.run(troupe::run_as_asked(sys, asked, argv[0]));
  } catch (const std::exception& e) {
    std::printf("escapes: skipped: %s\n", e.what());
    return 2;
  }
}
