#include "tests/bench/openenv_served.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/openenv_load.hpp"
#include "tests/bench/two_clocks.hpp"
#include "tests/paths.hpp"

namespace troupe::openenv {

namespace {

constexpr int runs = 5;
constexpr int python_steps = 3'000;  // in each run: about a second
constexpr int troupe_steps = 40'000;
constexpr int python_client_steps = 6'400;
constexpr int clients_at_once = 600;

std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ::bind(socket, reinterpret_cast<sockaddr*>(&at), sizeof at);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size);
  ::close(socket);
  return ntohs(at.sin_port);
}

/// A server in a process of its own: the command, and then `--port N`.
class served {
 public:
  explicit served(std::vector<std::string> command) : port_(free_port()) {
    command.insert(command.end(), {"--port", std::to_string(port_)});
    std::vector<char*> words;
    for (auto& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::freopen("/dev/null", "w", stdout);
      ::execv(words[0], words.data());
      _exit(127);
    }
    await(command[0]);
  }
  ~served() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  served(const served&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  void await(const std::string& name) const {
    std::string why;
    for (int tenths = 0; tenths < 600; ++tenths) {
      try {
        steps_per_second(port_, 1, 100);  // which warms it up, too
        return;
      } catch (const std::runtime_error& e) {
        why = e.what();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
      if (::waitpid(process_, nullptr, WNOHANG) != 0) break;
    }
    throw std::runtime_error(name + " serves nothing: " + why);
  }

  std::uint16_t port_;
  pid_t process_ = -1;
};

/// The python that has the real package, or nothing.
std::string find_python() {
  const std::string command =
      testing::source_path("tests/worlds/openenv_venv.py") + " " + testing::build_folder();
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string output;
  for (char bytes[256]; pipe && std::fgets(bytes, sizeof bytes, pipe);) output = bytes;
  while (!output.empty() && output.back() == '\n') output.pop_back();
  if (pipe && ::pclose(pipe) == 0) return output;
  std::printf("  the real Python server was left out: %s\n", output.c_str());
  return "";
}

/// Runs the real Python client against that port, and returns the number that it prints.
double python_client(const std::string& python, std::uint16_t port, int sessions, int steps) {
  const auto command = python + " " + testing::source_path("tests/bench/openenv_python_client.py") +
                       " http://127.0.0.1:" + std::to_string(port) + " " +
                       std::to_string(sessions) + " " + std::to_string(steps);
  FILE* pipe = ::popen(command.c_str(), "r");
  double number = 0;
  const bool has_number = pipe && std::fscanf(pipe, "%lf", &number) == 1;
  if (!pipe || ::pclose(pipe) != 0 || !has_number)
    throw std::runtime_error(command + ": expected a number, got none");
  return number;
}

}  // namespace

void measure_served(nlohmann::json& results) {
  const auto python = find_python();
  if (python.empty()) return;
  const served real({python, testing::source_path("tests/worlds/cartpole_server.py")});
  const served ours({testing::build_path("deploy/libexec/troupe/serve-env"), "serve-env",
                     "CartPole-v1", "--metrics-port", "0"});
  for (const std::string load : {"raw_load", "python_client"}) {
    const auto speed = [&](const served& of, int sessions, int raw_steps) {
      return load == "raw_load" ? steps_per_second(of.port(), sessions, raw_steps)
                                : python_client(python, of.port(), sessions, python_client_steps);
    };
    for (const int sessions : {1, 32}) {
      std::vector<double> ratios, ours_speed, real_speed;
      for (int run = 0; run < runs; ++run) {  // in turn, as the machine has its moods
        real_speed.push_back(speed(real, sessions, python_steps));
        ours_speed.push_back(speed(ours, sessions, troupe_steps));
        ratios.push_back(ours_speed.back() / real_speed.back());
      }
      using of = troupe::detail::series;
      const auto name = (sessions == 1 ? "served_1_session_" : "served_32_sessions_") + load;
      results[name + "_ratio"] = of::median(ratios);
      results[name + "_steps_per_s"] = of::median(ours_speed);
      std::printf(
          "  %s, %2d sessions: %.0f steps/s served, %.0f by the Python server, ratio %.1f\n",
          load.c_str(), sessions, of::median(ours_speed), of::median(real_speed),
          of::median(ratios));
    }
    const int failed =
        load == "raw_load"
            ? failures_at_once(ours.port(), clients_at_once)
            : static_cast<int>(python_client(python, ours.port(), clients_at_once, 0));
    results["at_once_" + std::to_string(clients_at_once) + "_" + load + "_failures"] = failed;
    std::printf("  %s, %d clients at once: %d failed\n", load.c_str(), clients_at_once, failed);
  }
}

}  // namespace troupe::openenv
