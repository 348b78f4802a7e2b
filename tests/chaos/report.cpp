#include "actors/torch.hpp"

#include "tests/chaos/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace troupe::chaos {

namespace {

double ms(duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

std::string ms_text(const std::optional<duration>& d) {
  return d ? fmt::format("{:.1f}", ms(*d)) : "never";
}

/// Of those that came to pass, sorted.
std::vector<double> times(const findings& f, std::optional<duration> kill_record::* which) {
  std::vector<double> sorted;
  for (const auto& k : f.kills) {
    if (k.*which) sorted.push_back(ms(*(k.*which)));
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

nlohmann::json median(const std::vector<double>& sorted) {
  return sorted.empty() ? nlohmann::json() : nlohmann::json(sorted[sorted.size() / 2]);
}
nlohmann::json last(const std::vector<double>& sorted) {
  return sorted.empty() ? nlohmann::json() : nlohmann::json(sorted.back());
}

std::string list(const std::map<std::string, std::int64_t>& failed) {
  std::string text;
  for (const auto& [kind, n] : failed) text += fmt::format(", {} {}", n, kind);
  return text;
}

}  // namespace

void print(const findings& f) {
  fmt::print("   at s  replica           pid  in flight  noticed ms  back ms\n");
  for (const auto& k : f.kills) {
    fmt::print("{:7.2f}  {:<14} {:>6}  {:>9}  {:>10}  {:>7}\n", ms(k.at) / 1000,
               fmt::format("{}/{}", k.service, k.index), k.pid, k.in_flight, ms_text(k.noticed),
               ms_text(k.back));
  }
  fmt::print(
      "requests: {} begun, {} answered{}; {} wrong; {} sent again; the longest took {:.0f} ms\n",
      f.requests.begun, f.requests.answered, list(f.requests.failed), f.requests.wrong, f.retries,
      ms(f.requests.longest));
  fmt::print("episodes in sessions: {} begun, {} finished, {} told of their loss{}; {} wrong\n",
             f.sessions.begun, f.sessions.finished, f.sessions.lost, list(f.sessions.failed),
             f.sessions.wrong);
  fmt::print("updates of weights: {}; answers by weights older than acknowledged: {}\n", f.updates,
             f.stale);
}

nlohmann::json to_json(const findings& f) {
  const auto noticed = times(f, &kill_record::noticed), back = times(f, &kill_record::back);
  return {{"kills", f.kills.size()},
          {"requests", f.requests.begun},
          {"requests_answered", f.requests.answered},
          {"requests_hung", f.requests.begun - f.requests.ended()},
          {"requests_longest_ms", ms(f.requests.longest)},
          {"requests_sent_again", f.retries},
          {"sessions_lost", f.sessions.lost},
          {"noticed_ms_median", median(noticed)},
          {"noticed_ms_max", last(noticed)},
          {"back_ms_median", median(back)},
          {"back_ms_max", last(back)}};
}

std::vector<std::string> breaches(const findings& f, const limits& promised) {
  std::vector<std::string> found;
  const auto expect = [&](bool holds, std::string what) {
    if (!holds) found.push_back(std::move(what));
  };
  expect(!f.kills.empty(), "nothing was killed");
  expect(
      f.requests.answered == f.requests.begun,
      fmt::format("{} of {} idempotent requests answered", f.requests.answered, f.requests.begun));
  expect(f.requests.ended() == f.requests.begun,
         fmt::format("{} requests hung", f.requests.begun - f.requests.ended()));
  expect(f.requests.wrong == 0, fmt::format("{} answers were wrong", f.requests.wrong));
  expect(f.sessions.failed.empty(), "episodes ended otherwise than as session_lost");
  expect(f.sessions.wrong == 0, fmt::format("{} episodes had another return", f.sessions.wrong));
  for (const auto& k : f.kills) {
    const auto who = fmt::format("{}/{}, killed at {:.2f} s,", k.service, k.index, ms(k.at) / 1000);
    expect(k.noticed && ms(*k.noticed) <= promised.noticed_ms,
           fmt::format("{} was noticed after {} ms, expected at most {}", who, ms_text(k.noticed),
                       promised.noticed_ms));
    expect(k.back && ms(*k.back) <= promised.back_ms,
           fmt::format("{} was back after {} ms, expected at most {}", who, ms_text(k.back),
                       promised.back_ms));
  }
  return found;
}

}  // namespace troupe::chaos
