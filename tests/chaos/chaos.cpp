// Kills processes of replicas under load, then the program that has started them: ./dev chaos. With
// --nodes, kills nodes that are full of replicas.
//
//   chaos ──starts──> driver ──starts──> environments, policies, rewards: a process a replica
//     └─ kills it in the end              └─ kills one of them at random, again and again
//
//   chaos --nodes ──starts──> driver ──starts──> nodes that join it, for all replicas
//                               └─ kills one of them, starts another in its place, again and again
//
// Exits with 0 if everything was as promised: each idempotent request answered, and rightly; each
// episode whose environment died told so; losses noticed and made good in time; no process left
// soon after the driver was killed; the driver as large in the end as before the first kill.

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "runtime/base/descriptor.hpp"
#include "runtime/base/log.hpp"
#include "runtime/system/child_process.hpp"
#include "runtime/system/run.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/chaos/driver.hpp"

namespace {

using namespace troupe;
using clock = std::chrono::steady_clock;

/// Processes whose parent is this one, zombies left aside.
std::vector<pid_t> own_children() {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const auto after = text.rfind(')');        // The program's name may hold anything.
    if (after == std::string::npos) continue;  // It has ended meanwhile.
    char state = 0;
    int parent = 0;
    if (std::sscanf(text.c_str() + after + 1, " %c %d", &state, &parent) != 2) continue;
    if (parent == getpid() && state != 'Z') found.push_back(std::stoi(name));
  }
  return found;
}

/// Seconds until this process, which orphans fall to, has no child; none if that takes longer than
/// `limit`.
std::optional<double> await_no_children(double limit) {
  const auto start = clock::now();
  for (;;) {
    const bool left = !own_children().empty();
    const double passed = std::chrono::duration<double>(clock::now() - start).count();
    if (!left) return passed;
    if (passed > limit) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::string read_line(int from) {
  std::string text;
  char byte = 0;
  while (read(from, &byte, 1) == 1 && byte != '\n') text += byte;
  return text;
}

/// Starts this program once more, as the driver.
pid_t start_driver(int argc, char** argv, const chaos::driver_ends& to) {
  std::vector<char*> arguments(argv, argv + argc);
  auto out = "--drive=" + std::to_string(to.out), secret = "--secret=" + to.secret;
  arguments.push_back(out.data());
  arguments.push_back(secret.data());
  arguments.push_back(nullptr);
  pid_t driver = 0;
  if (posix_spawn(&driver, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot start the driver");
  }
  return driver;
}

int judge(int argc, char** argv, const chaos::limits& promised, bool json) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int ends[2];
  if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const troupe::detail::descriptor from(ends[0]);
  troupe::detail::descriptor to(ends[1]);
  const temporary_folder folder;
  const auto driver =
      start_driver(argc, argv, {.out = to.number(), .secret = folder.path / "join.secret"});
  to = troupe::detail::descriptor();
  const auto line = read_line(from.number());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // Restarts are under way.
  kill(driver, SIGKILL);
  waitpid(driver, nullptr, 0);
  const auto gone = await_no_children(promised.orphans_s);
  for (const auto pid : own_children()) kill(pid, SIGKILL);
  if (line.empty()) throw std::runtime_error("the driver died");

  auto figures = nlohmann::json::parse(line);
  auto& breaches = figures["breaches"];
  if (!gone)
    breaches.push_back(
        fmt::format("children were left {} s after the driver was killed", promised.orphans_s));
  figures["orphans_gone_ms"] = gone ? nlohmann::json(*gone * 1000) : nlohmann::json();
  fmt::print(
      "after the driver was killed: {}\n",
      gone ? fmt::format("no process left after {:.0f} ms", *gone * 1000) : "processes are left");
  for (const auto& one : breaches) fmt::print("NOT AS PROMISED: {}\n", one.get<std::string>());
  if (breaches.empty()) fmt::print("everything was as promised\n");
  if (json) fmt::print("{}\n", figures.dump());
  return breaches.empty() ? 0 : 1;
}

/// Of a node, which runs what its controller places there.
task<> nothing(troupe::system&) { co_return; }

}  // namespace

int main(int argc, char** argv) {
  troupe::detail::serve_parent_if_child();
  if (argc > 1 && argv[1] == std::string_view("node")) return run(argc, argv, nothing);
  CLI::App app("Kills processes of replicas, or nodes, under load.");
  chaos::driver_options options;
  std::optional<double> seconds, noticed_ms, back_ms;
  std::optional<int> every_ms, callers;
  bool json = false;
  chaos::driver_ends ends{.out = -1, .secret = {}};
  app.add_flag("--nodes{3}", options.nodes,
               "kill nodes, of which there are three, or as many as --nodes=N says");
  app.add_option("--seconds", seconds, "how long; 60, with --nodes 600")
      ->check(CLI::Range(0.1, 3600.0));
  app.add_option("--every", every_ms, "between two kills, in ms; 2000, with --nodes 60000")
      ->check(CLI::Range(10, 3'600'000));
  app.add_option("--seed", options.killer.seed, "of the choice of victims, and of the load")
      ->capture_default_str();
  app.add_option("--replicas", options.replicas, "of each service; with --nodes, for each node")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--callers", callers,
                 "of each service, and as many episodes at once; 4, with --nodes 8")
      ->check(CLI::Range(1, 1000));
  app.add_option("--noticed", noticed_ms,
                 "within which losses are to be noticed, in ms; 50, with --nodes 1000");
  app.add_option("--back", back_ms,
                 "within which what was lost is to be back, in ms; 5000, with --nodes 20000");
  app.add_flag("--json", json, "end with a line of JSON");
  app.add_option("--drive", ends.out, "for the program itself")->group("");
  app.add_option("--secret", ends.secret, "for the program itself")->group("");
  CLI11_PARSE(app, argc, argv);
  const auto milliseconds = [](double ms) {
    return std::chrono::duration_cast<duration>(std::chrono::duration<double, std::milli>(ms));
  };
  const bool nodes = options.nodes > 0;
  options.killer.length = milliseconds(seconds.value_or(nodes ? 600 : 60) * 1000);
  options.killer.every = milliseconds(every_ms.value_or(nodes ? 60'000 : 2000));
  options.callers = callers.value_or(nodes ? 8 : 4);
  options.promised.noticed_ms = noticed_ms.value_or(nodes ? 1000 : 50);
  options.promised.back_ms = back_ms.value_or(nodes ? 20'000 : 5000);
  troupe::log::set_level("error");
  try {
    if (ends.out >= 0) chaos::drive(options, ends);
    return judge(argc, argv, options.promised, json);
  } catch (const std::exception& e) {
    fmt::print(stderr, "chaos: {}\n", e.what());
    return 1;
  }
}
