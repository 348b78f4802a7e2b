// What PPO on CartPole-v1 costs, as a user runs it: `troupe train` with Stable-Baselines3's
// hyperparameters, one environment, 100,352 steps, for each of five seeds a process of its own.
//
//   ppo_cartpole_cpu_s    CPU seconds of the whole process, user and system; the median
//   ppo_cartpole_solved   how many of the five reached a mean return of 475 over 100 episodes
//
// bench_ppo [--json]

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int seeds = 5;

struct measured {
  double cpu_s = 0;
  double wall_s = 0;  ///< Of the training alone, as its summary says.
  double eval_mean = 0;
  bool solved = false;
};

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

/// Runs a program with its output in `log`; returns what it used.
rusage run(std::vector<std::string> command, const std::filesystem::path& log) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    const int to = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    std::vector<char*> arguments;
    for (auto& part : command) arguments.push_back(part.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
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
      run({TROUPE_COMMAND, "train", "--algo", "ppo", "--env", "CartPole-v1", "-n", "100000",
           "--seed", std::to_string(seed), "--runs", folder.string(), "--json"},
          log);
  std::ifstream file(log);
  std::string line, last;
  while (std::getline(file, line)) last = line;
  const auto summary = nlohmann::json::parse(last);
  return {seconds(used.ru_utime) + seconds(used.ru_stime), summary["wall_s"], summary["eval_mean"],
          summary["solved"]};
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
    if (argc > 1 && std::strcmp(argv[1], "--json") == 0) {
      const nlohmann::ordered_json line{{"ppo_cartpole_cpu_s", median},
                                        {"ppo_cartpole_solved", solved}};
      std::puts(line.dump().c_str());
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_ppo: %s\n", e.what());
    code = 1;
  }
  std::filesystem::remove_all(folder);
  return code;
}
