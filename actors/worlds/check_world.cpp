#include "actors/worlds/check_world.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "actors/environments/action_numbers.hpp"
#include "actors/python/python_check.hpp"
#include "actors/worlds/plugin_loader.hpp"
#include "runtime/base/descriptor.hpp"

namespace troupe {
namespace {

using nlohmann::json;

// ---- an environment that is registered as a vector environment

/// A vector environment of one, as a single environment.
class batch_of_one final : public environment {
 public:
  explicit batch_of_one(std::unique_ptr<vector_environment> many)
      : many_(std::move(many)), has_floats_(!numbers_of(many_->spec().action_space).low.empty()) {}

  env_spec spec() const override { return many_->spec(); }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    // An episode that ended has begun the next one.
    auto first = std::exchange(next_obs_, std::nullopt);
    if (seed || !first) {
      auto begun = many_->reset(seed);
      refuse(begun.failures);
      first.emplace(std::move(begun.obs));
    }
    write_obs(*first, obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    env_actions actions;
    const auto parts = action.parts();
    actions.discrete.assign(parts.begin(), parts.end());
    if (has_floats_) {
      const auto numbers = action.continuous();
      actions.continuous.assign(numbers.begin(), numbers.end());
    }
    auto after = many_->step(std::move(actions));
    refuse(after.failures);
    agents_.resize(after.agent_reward.size());
    for (std::size_t i = 0; i < agents_.size(); ++i)
      agents_[i] = {after.agent_reward[i], episode_end{after.agent_ended.at(i)}};
    if (after.reward.size() != 1 || after.terminated.size() != 1 || after.truncated.size() != 1)
      throw std::runtime_error(
          fmt::format("expected one reward and one of each flag, got {}, {}, {}",
                      after.reward.size(), after.terminated.size(), after.truncated.size()));
    step_result result{.reward = after.reward[0],
                       .terminated = after.terminated[0] != 0,
                       .truncated = after.truncated[0] != 0};
    if (result.terminated || result.truncated) {
      if (after.finished.size() != 1)
        throw std::runtime_error(
            fmt::format("expected an ended episode in `finished`, got {}", after.finished.size()));
      write_obs(after.finished[0].final_obs, obs);
      info_ = after.finished[0].info;
      next_obs_ = std::move(after.obs);
    } else {
      write_obs(after.obs, obs);
    }
    return result;
  }
  episode_info info() const override { return info_; }
  std::span<const agent_step> agent_steps() const override { return agents_; }
  bool render(canvas& on) const override { return many_->render(0, on); }
  void set_level(std::size_t level) override { many_->set_level(level); }
  void set_task(std::size_t task) override { many_->set_turns({task}); }
  void set_options(const std::string& text) override { many_->set_options(text); }
  bool save(state_writer& to) const override {
    const auto bytes = many_->save();
    if (bytes) to.put("batch", *bytes);
    return bytes.has_value();
  }
  void restore(const state_reader& from) override {
    many_->restore(from.get<std::string>("batch"));
  }

 private:
  static void refuse(const std::vector<env_failure>& failures) {
    if (!failures.empty()) throw std::runtime_error(failures.front().message);
  }

  std::unique_ptr<vector_environment> many_;
  bool has_floats_;  // in an action
  std::optional<recycled_vector<float>> next_obs_;
  episode_info info_;
  std::vector<agent_step> agents_;  // [N]
};

std::unique_ptr<environment> make_single(const environment_request& request) {
  try {
    return make_environment(request);
  } catch (const unknown_environment&) {
    throw;
  } catch (const std::invalid_argument&) {
    return std::make_unique<batch_of_one>(make_vector_environment(request, 1));
  }
}

// ---- the forked process

/// Writes what a check tells to a pipe, a JSON object a line.
class pipe_listener final : public check_listener {
 public:
  explicit pipe_listener(int pipe) : pipe_(pipe) {}

  void begins(const environment_call& call) override { write({{"begins", {call.where, call.at}}}); }
  void found(bool is_fault, environment_finding what) override {
    has_faults_ |= is_fault;
    write({{"findings", {json_of(is_fault, what)}}, {"skipped", json::array()}});
  }
  void skipped(skipped_check what) override {
    write({{"findings", json::array()},
           {"skipped", {{{"check", what.check}, {"reason", what.reason}}}}});
  }
  void measured(environment_speed what) override { write({{"speed", json_of(what)}}); }
  bool has_faults() const { return has_faults_; }
  void write(const json& message) {
    // What an exception says may be no UTF-8.
    const auto line = message.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
      const auto bytes = ::write(pipe_, rest.data(), rest.size());
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes <= 0) _exit(1);  // nobody reads any more
      rest.remove_prefix(static_cast<std::size_t>(bytes));
    }
  }

 private:
  int pipe_;
  bool has_faults_ = false;
};

/// What is done while environments are stepped for their speed.
constexpr const char* measuring = "measuring the speed";

std::string counted(std::int64_t size) {
  return fmt::format("{} environment{}", size, size == 1 ? "" : "s");
}

/// Measures the speed of environments that keep the contract. `make` makes so many of them.
void measure_hosted(
    const std::function<std::unique_ptr<vector_environment>(std::size_t size)>& make,
    const check_options& options, bool has_faults, check_listener& to) {
  if (has_faults) return to.skipped({"speed", "it has faults"});
  try {
    for (const auto size : options.measured_sizes()) {
      to.begins({"making it", "to measure its speed"});
      const auto environments = make(static_cast<std::size_t>(size));
      to.begins({measuring, "of " + counted(size)});
      to.measured(measure_speed(*environments, options));
    }
  } catch (const std::exception& error) {
    to.skipped({"speed", error.what()});
  }
}

[[noreturn]] void check_in_child(const environment_request& request, const check_options& options,
                                 int pipe, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // what the environment prints is not part of the report
  pipe_listener to(pipe);
  try {
    check_environment([&] { return make_single(request); }, options, to);
    measure_hosted([&](std::size_t size) { return make_vector_environment(request, size); },
                   options, to.has_faults(), to);
    to.write({{"end", true}});
  } catch (const unknown_environment& error) {
    to.write({{"unknown", error.what()}});
  } catch (const std::exception& error) {
    to.write({{"refused", error.what()}});
  }
  _exit(0);
}

/// A forked process that checks an environment. It is killed with this object.
class checking_process {
 public:
  checking_process(const environment_request& request, const check_options& options) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
    read_ = detail::descriptor(ends[0]);
    detail::descriptor write(ends[1]);
    const auto parent = getpid();
    process_ = fork();
    if (process_ < 0)
      throw std::system_error(errno, std::generic_category(), "cannot start a process");
    if (process_ == 0) check_in_child(request, options, write.number(), parent);
  }
  ~checking_process() {
    if (!ended_) {
      ::kill(process_, SIGKILL);
      wait(0);
    }
  }
  checking_process(const checking_process&) = delete;

  /// Returns the next line; nullopt at the end, or if there is none within `seconds`.
  std::optional<std::string> line(double seconds) {
    using clock = std::chrono::steady_clock;
    const auto until = clock::now() + std::chrono::duration_cast<clock::duration>(
                                          std::chrono::duration<double>(seconds));
    for (;;) {
      const auto end = received_.find('\n');
      if (end != received_.npos) {
        auto line = received_.substr(0, end);
        received_.erase(0, end + 1);
        return line;
      }
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
      if (left <= 0) return std::nullopt;
      pollfd pipe{read_.number(), POLLIN, 0};
      constexpr std::int64_t longest = 60'000;
      if (::poll(&pipe, 1, static_cast<int>(std::min<std::int64_t>(left, longest))) <= 0) continue;
      std::array<char, 1 << 16> block;
      const auto bytes = ::read(read_.number(), block.data(), block.size());
      if (bytes > 0) {
        received_.append(block.data(), static_cast<std::size_t>(bytes));
      } else if (bytes == 0 || errno != EINTR) {
        at_end_ = true;
        return std::nullopt;
      }
    }
  }

  /// Says how the process ended; nullopt if it has not.
  std::optional<std::string> end() {
    if (!ended_) wait(at_end_ ? 0 : WNOHANG);
    if (!ended_) return std::nullopt;
    if (!WIFSIGNALED(status_)) return fmt::format("an end with exit code {}", WEXITSTATUS(status_));
    return fmt::format("an end by signal {} ({})", WTERMSIG(status_), strsignal(WTERMSIG(status_)));
  }

 private:
  void wait(int how) {
    pid_t waited = 0;
    do waited = waitpid(process_, &status_, how);
    while (waited < 0 && errno == EINTR);
    ended_ = waited != 0;
  }

  detail::descriptor read_;
  pid_t process_ = -1;
  std::string received_;
  int status_ = 0;
  bool at_end_ = false, ended_ = false;
};

void check_apart(const environment_request& request, const check_options& options,
                 environment_report& to) {
  checking_process process(request, options);
  to.begins({"making it"});
  for (;;) {
    const auto& call = to.last_call();
    auto limit = limit_of(call, request.python);
    if (call.where == measuring) {  // a reset and many steps
      limit.seconds += request.python.reset_timeout + options.speed_seconds;
      limit.option = "env.step_timeout and env.reset_timeout";
    }
    const auto line = process.line(limit.seconds);
    if (!line) {
      const auto end = process.end();
      to.found(true, {.check = "process",
                      .call = call,
                      .expected = end ? "a return" : "a return within " + limit.text(),
                      .got = end.value_or("none")});
      to.skipped({"the checks after it", "its process has ended"});
      return;
    }
    const auto message = json::parse(*line);
    if (message.contains("end")) return;
    if (message.contains("unknown"))
      throw unknown_environment(message.at("unknown").get<std::string>());
    if (message.contains("refused"))
      throw std::invalid_argument(message.at("refused").get<std::string>());
    if (message.contains("speed")) {
      to.measured(speed_of(message.at("speed")));
    } else if (message.contains("begins")) {
      const auto& begins = message.at("begins");
      to.begins({begins.at(0).get<std::string>(), begins.at(1).get<std::string>()});
    } else {
      tell_json(message, to);
    }
  }
}

/// Measures the speed of an environment in Python, alone and as this program hosts it.
void measure_in_python(const environment_request& request, const check_options& options,
                       environment_report& to) {
  if (!to.faults().empty()) return to.skipped({"speed", "it has faults"});
  try {
    for (const auto size : options.measured_sizes()) {
      to.begins({measuring, "of " + counted(size) + " alone"});
      to.measured(measure_python_environment(request, size, options));
    }
  } catch (const std::exception& error) {
    to.skipped({"speed of it alone", error.what()});
  }
  measure_hosted([&](std::size_t size) { return make_vector_environment(request, size); }, options,
                 false, to);
}

/// True for the name of an environment in Python. Whatever is registered is none.
bool is_in_python(const std::string& id) {
  return names_python(id) && !names_plugin(id) && std::ranges::count(known_environments(), id) == 0;
}

}  // namespace

environment_report check_world(const environment_request& request, const check_options& options) {
  environment_report report(request.id, options.on_call);
  if (is_in_python(request.id)) {
    check_python_environment({.id = request.id,
                              .options = request.options,
                              .reset_options = request.reset_options,
                              .wrappers = request.wrappers,
                              .python = request.python},
                             options, report);
    if (request.wrappers != wrapper_options{} && report.faults().empty()) {
      environment_report wrapped(request.id, options.on_call);
      check_environment([&] { return make_environment(request); }, options, wrapped);
      for (const auto& fault : wrapped.faults()) report.found(true, fault);
    }
    measure_in_python(request, options, report);
  } else {
    check_apart(request, options, report);
  }
  return report;
}

void check_vector_environments(const std::function<std::unique_ptr<vector_environment>()>& make,
                               const check_options& options, check_listener& to) {
  check_environment([&] { return std::make_unique<batch_of_one>(make()); }, options, to);
}

void measure_vector_environments(
    const std::function<std::unique_ptr<vector_environment>(std::size_t size)>& make,
    const check_options& options, environment_report& to) {
  measure_hosted(make, options, !to.faults().empty(), to);
}

}  // namespace troupe
