// What PPO on CartPole-v1 costs, as a user runs it: `troupe train` with Stable-Baselines3's
// hyperparameters, one environment, 100,352 steps, for each of five seeds a process of its own.
//
//   ppo_cartpole_cpu_s    CPU seconds of the whole process, user and system; the median
//   ppo_cartpole_solved   how many of the five reached a mean return of 475 over 100 episodes
//
// What surrounds it:
//
//   overhead_vs_bare_loop  CPU time through actors over that of a bare loop over the same kernels
//   allocations_per_step   of a step of eight environments through actors: stepping, inference,
//   storage; mean of
//                          the steps at which no episode ends and no rollout begins
//   first_step_s           from the start of `troupe train` to its first environment step; the
//   median first_step_cpu_s       CPU seconds of the process until then; the median help_s `troupe
//   --help`, from start to end; the median
//
// bench_ppo [--json]

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/ppo_overhead.hpp"
#include "tests/paths.hpp"

namespace {

constexpr int seeds = 5;
constexpr int starts = 9;
const std::string troupe_command = troupe::testing::build_path("deploy/troupe/troupe");

struct measured {
  double cpu_s = 0;
  double wall_s = 0;  ///< Of the training alone, as its summary says.
  double eval_mean = 0;
  bool solved = false;
};

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// Starts a program with its output in `to`, which is closed here.
pid_t start(std::vector<std::string> command, int to) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    std::vector<char*> arguments;
    for (auto& part : command) arguments.push_back(part.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(to);
  return child;
}

/// Runs a program with its output in `log`; returns what it used.
rusage run(std::vector<std::string> command, const std::filesystem::path& log) {
  const pid_t child = start(command, open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644));
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::ifstream file(log);
    throw std::runtime_error(command[0] +
                             " failed: " + std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return used;
}

measured train(int seed, const std::filesystem::path& folder) {
  const auto log = folder / "log";
  const auto used =
      run({troupe_command, "train", "--algo", "ppo", "--env", "CartPole-v1", "-n", "100000",
           "--seed", std::to_string(seed), "--runs", folder.string(), "--json"},
          log);
  std::ifstream file(log);
  std::string line, last;
  while (std::getline(file, line)) last = line;
  const auto summary = nlohmann::json::parse(last);
  return {seconds(used.ru_utime) + seconds(used.ru_stime), summary.at("wall_s"),
          summary.at("eval_mean"), summary.at("solved")};
}

double help(const std::filesystem::path& folder) {
  const auto began = clock_type::now();
  run({troupe_command, "--help"}, folder / "log");
  return seconds_since(began);
}

struct begun {
  double wall_s = 0;
  double cpu_s = 0;
};

/// A run until it logs its first environment step.
begun first_step(const std::filesystem::path& folder) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  const auto began = clock_type::now();
  const pid_t child = start({troupe_command, "--log-level", "debug", "train", "--env",
                             "CartPole-v1", "--runs", folder.string(), "--metrics-port", "0"},
                            ends[1]);
  std::string seen;
  char bytes[4096];
  ssize_t n = 0;
  while (seen.find("the first environment step") == std::string::npos &&
         (n = read(ends[0], bytes, sizeof bytes)) > 0) {
    seen.append(bytes, static_cast<std::size_t>(n));
  }
  begun result{.wall_s = seconds_since(began)};
  clockid_t clock;
  timespec used{};
  if (clock_getcpuclockid(child, &clock) == 0) clock_gettime(clock, &used);
  result.cpu_s = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  if (n <= 0) throw std::runtime_error("no first environment step was logged:\n" + seen);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  auto pattern = (std::filesystem::temp_directory_path() / "troupe_bench_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return 1;
  const std::filesystem::path folder = pattern;
  int code = 0;
  try {
    std::vector<double> cpu;
    int solved = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      const auto m = train(seed, folder);
      std::printf("seed %d: %.2f s of CPU, trained in %.2f s, return %.1f%s\n", seed, m.cpu_s,
                  m.wall_s, m.eval_mean, m.solved ? ", solved" : "");
      std::fflush(stdout);
      cpu.push_back(m.cpu_s);
      solved += m.solved;
    }
    std::sort(cpu.begin(), cpu.end());
    const double median = cpu[seeds / 2];
    std::printf("median %.2f s of CPU (%.2f to %.2f), %d of %d solved\n", median, cpu.front(),
                cpu.back(), solved, seeds);
    std::vector<double> help_s, first_s, first_cpu_s;
    for (int i = 0; i < starts; ++i) {
      help_s.push_back(help(folder));
      const auto begun = first_step(folder);
      first_s.push_back(begun.wall_s);
      first_cpu_s.push_back(begun.cpu_s);
    }
    std::printf("help %.3f s, first environment step after %.2f s (%.2f s of CPU), medians of %d\n",
                median_of(help_s), median_of(first_s), median_of(first_cpu_s), starts);
    const auto overhead = troupe::bench::overhead_vs_bare_loop();
    std::printf(
        "through actors over a bare loop: %.3f; allocations a step of eight: %.3f, with the "
        "updates and all "
        "else %.1f, bare %.1f\n",
        overhead.ratio, overhead.allocations_per_step, overhead.allocations,
        overhead.allocations_bare);
    if (argc > 1 && std::strcmp(argv[1], "--json") == 0) {
      const nlohmann::ordered_json line{{"ppo_cartpole_cpu_s", median},
                                        {"ppo_cartpole_solved", solved},
                                        {"overhead_vs_bare_loop", overhead.ratio},
                                        {"allocations_per_step", overhead.allocations_per_step},
                                        {"first_step_s", median_of(first_s)},
                                        {"first_step_cpu_s", median_of(first_cpu_s)},
                                        {"help_s", median_of(help_s)}};
      std::puts(line.dump().c_str());
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_ppo: %s\n", e.what());
    code = 1;
  }
  std::filesystem::remove_all(folder);
  return code;
}
