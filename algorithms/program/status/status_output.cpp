// The two forms in which a status is printed: JSON and text.

#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "actors/recorder/score_text.hpp"
#include "algorithms/program/status/program_status.hpp"
#include "algorithms/program/text_table.hpp"

namespace troupe::command {

namespace {

using json = nlohmann::ordered_json;

json or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json();
}

json to_json(const service_status& s) {
  return {{"service", s.service},
          {"state", s.state},
          {"ready", s.ready},
          {"desired", s.desired},
          {"draining", s.draining},
          {"in_long_turn", s.in_long_turn},
          {"in_flight", s.in_flight},
          {"waiting", s.waiting},
          {"calls_per_s", or_null(s.calls_per_s)},
          {"p50_s", or_null(s.p50_s)},
          {"p99_s", or_null(s.p99_s)},
          {"queue_wait_p99_s", or_null(s.queue_wait_p99_s)},
          {"failed", s.failed},
          {"restarts", s.restarts}};
}

json to_json(const process_status& s) {
  return {{"node", s.node},
          {"process", s.process},
          {"replicas", s.replicas},
          {"calls_per_s", or_null(s.calls_per_s)},
          {"env_steps_per_s", or_null(s.env_steps_per_s)},
          {"cores", or_null(s.cores)},
          {"memory_bytes", or_null(s.memory_bytes)}};
}

json to_json(const learning_status& s) {
  return {{"env_steps", or_null(s.env_steps)},
          {"env_steps_per_s", or_null(s.env_steps_per_s)},
          {"episodes", or_null(s.episodes)},
          {"episode_return", or_null(s.episode_return)},
          {"episode_length", or_null(s.episode_length)},
          {"policy_version", or_null(s.policy_version)},
          {"staleness", or_null(s.staleness)},
          {"train_steps", or_null(s.train_steps)},
          {"train_steps_per_s", or_null(s.train_steps_per_s)},
          {"loss", or_null(s.loss)},
          {"replay_items", or_null(s.replay_items)}};
}

template <class... A>
std::string print(const char* format, A... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

/// A count in short, such as "950", "12.3k" or "1.20M".
std::string count(double n) {
  if (std::abs(n) >= 1e6) return print("%.2fM", n / 1e6);
  if (std::abs(n) >= 1e4) return print("%.1fk", n / 1e3);
  return print(n == std::floor(n) ? "%.0f" : "%.1f", n);
}

/// A time in short, such as "12 us", "3.4 ms" or "1.2 s".
std::string seconds(double s) {
  if (s < 1e-3) return print("%.0f us", s * 1e6);
  return s < 1 ? print("%.1f ms", s * 1e3) : print("%.1f s", s);
}

/// A share as a percentage, such as "98 %".
std::string percent(double share) { return print("%.0f %%", 100 * share); }

std::string megabytes(double bytes) { return print("%.0f MB", bytes / 1e6); }

std::string or_dash(const std::string& name) { return name.empty() ? "-" : name; }

template <class Print>
std::string or_dash(const std::optional<double>& value, Print print) {
  return value && std::isfinite(*value) ? print(*value) : "-";
}

std::string process_table(const std::vector<process_status>& processes) {
  std::vector<std::vector<std::string>> rows{
      {"node", "process", "replicas", "calls/s", "env steps/s", "cpu", "memory"}};
  for (const auto& s : processes) {
    rows.push_back({or_dash(s.node), or_dash(s.process), count(s.replicas),
                    or_dash(s.calls_per_s, count), or_dash(s.env_steps_per_s, count),
                    or_dash(s.cores, percent), or_dash(s.memory_bytes, megabytes)});
  }
  return processes.empty() ? "" : text_table(rows);
}

std::string learning_line(const learning_status& s) {
  std::string line;
  const auto add = [&](const char* name, const std::optional<double>& value,
                       std::string (*text)(double) = count) {
    if (value) line += std::string(line.empty() ? "  " : ", ") + name + ' ' + or_dash(value, text);
  };
  add("env steps", s.env_steps);
  add("a second", s.env_steps_per_s);
  add("episodes", s.episodes);
  add("return", s.episode_return, score_text);
  add("updates", s.train_steps);
  add("policy version", s.policy_version);
  add("staleness", s.staleness);
  add("replay items", s.replay_items);
  if (s.loss) line += ", loss " + print("%.4g", *s.loss);
  return line.empty() ? line : line + '\n';
}

}  // namespace

nlohmann::ordered_json to_json(const program_status& status) {
  json services = json::array(), processes = json::array();
  for (const auto& s : status.services) services.push_back(to_json(s));
  for (const auto& s : status.processes) processes.push_back(to_json(s));
  return {{"version", status.version},
          {"services", std::move(services)},
          {"processes", std::move(processes)},
          {"left_out", status.left_out},
          {"learning", to_json(status.learning)}};
}

std::string to_text(const program_status& status) {
  std::vector<std::vector<std::string>> rows{{"service", "state", "ready", "queued", "waiting",
                                              "calls/s", "p50", "p99", "failed", "restarts"}};
  for (const auto& s : status.services) {
    auto ready = count(s.ready) + '/' + count(s.desired);
    if (s.draining > 0) ready += " +" + count(s.draining) + " draining";
    if (s.in_long_turn > 0) ready += ", " + count(s.in_long_turn) + " in a long turn";
    rows.push_back({s.service, s.state, std::move(ready), count(s.in_flight), count(s.waiting),
                    or_dash(s.calls_per_s, count), or_dash(s.p50_s, seconds),
                    or_dash(s.p99_s, seconds), count(s.failed), count(s.restarts)});
  }
  const auto more = status.left_out > 0 ? "  and " + std::to_string(status.left_out) +
                                              " more services and processes\n"
                                        : std::string();
  return text_table(rows) + process_table(status.processes) + more + learning_line(status.learning);
}

}  // namespace troupe::command
