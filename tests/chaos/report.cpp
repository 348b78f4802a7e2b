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

double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string list(const failure_counts& failed) {
  std::string text;
  for (const auto& [kind, n] : failed) text += fmt::format(", {} {}", n, kind);
  return text;
}

void print_calls(const char* what, const request_count& of) {
  fmt::print("{}: {} begun, {} answered{}; {} wrong; {} hung; the longest took {:.0f} ms\n", what,
             of.begun, of.answered, list(of.failed), of.wrong, of.hung(), ms(of.longest));
}

double growth(const node_findings& nodes) {
  const auto before = nodes.before.resident_bytes;
  return ratio(nodes.after.resident_bytes - before, before);
}

double megabytes(const process_figures& of) { return static_cast<double>(of.resident_bytes) / 1e6; }

void print_nodes(const node_findings& nodes) {
  print_calls("long calls, not idempotent", nodes.work);
  const auto &before = nodes.before, &after = nodes.after;
  fmt::print(
      "the controller, before the first kill and in the end: {:.1f} and {:.1f} MB ({:+.1f} %), "
      "{} and {} descriptors, {} and {} threads\n",
      megabytes(before), megabytes(after), growth(nodes) * 100, before.descriptors,
      after.descriptors, before.threads, after.threads);
}

std::int64_t all_hung(const findings& f) {
  return f.requests.hung() + f.sessions.hung() + (f.nodes ? f.nodes->work.hung() : 0);
}

/// Calls and episodes that were told so.
std::int64_t told_service_down(const findings& f) {
  const auto in = [](const failure_counts& failed) {
    const auto found = failed.find("service_down");
    return found == failed.end() ? 0 : found->second;
  };
  return in(f.requests.failed) + in(f.sessions.failed) + (f.nodes ? in(f.nodes->work.failed) : 0);
}

void add_nodes(nlohmann::json& figures, const node_findings& nodes) {
  figures["work_calls"] = nodes.work.begun;
  figures["work_answered"] = nodes.work.answered;
  figures["work_failed"] = nodes.work.failed;
  figures["memory_before_bytes"] = nodes.before.resident_bytes;
  figures["memory_after_bytes"] = nodes.after.resident_bytes;
  figures["memory_growth"] = growth(nodes);
  figures["descriptors_before"] = nodes.before.descriptors;
  figures["descriptors_after"] = nodes.after.descriptors;
  figures["threads_before"] = nodes.before.threads;
  figures["threads_after"] = nodes.after.threads;
}

/// Gathers what does not hold.
class expectations {
 public:
  void expect(bool holds, std::string what) {
    if (!holds) found_.push_back(std::move(what));
  }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  std::vector<std::string> found_;
};

void judge_kills(expectations& all, const findings& f, const limits& promised) {
  all.expect(!f.kills.empty(), "nothing was killed");
  for (const auto& k : f.kills) {
    const auto who = fmt::format("{}, killed at {:.2f} s,", k.victim, ms(k.at) / 1000);
    all.expect(k.noticed && ms(*k.noticed) <= promised.noticed_ms,
               fmt::format("{} was noticed after {} ms, expected at most {}", who,
                           ms_text(k.noticed), promised.noticed_ms));
    all.expect(k.back && ms(*k.back) <= promised.back_ms,
               fmt::format("{} was back after {} ms, expected at most {}", who, ms_text(k.back),
                           promised.back_ms));
  }
}

void judge_calls(expectations& all, const findings& f) {
  all.expect(
      f.requests.answered == f.requests.begun,
      fmt::format("{} of {} idempotent requests answered", f.requests.answered, f.requests.begun));
  all.expect(all_hung(f) == 0, fmt::format("{} calls or episodes hung", all_hung(f)));
  all.expect(f.load_ended, "the load has not ended");
  all.expect(told_service_down(f) == 0,
             fmt::format("{} calls or episodes ended as service_down", told_service_down(f)));
  all.expect(f.requests.wrong == 0, fmt::format("{} answers were wrong", f.requests.wrong));
  all.expect(f.sessions.failed.empty(), "episodes ended otherwise than as session_lost");
  all.expect(f.sessions.wrong == 0,
             fmt::format("{} episodes had another return", f.sessions.wrong));
}

void judge_nodes(expectations& all, const node_findings& nodes, const limits& promised) {
  const auto is_expected = [](const auto& failed) {
    return failed.first == "deadline_exceeded" || failed.first == "replica_lost";
  };
  all.expect(std::all_of(nodes.work.failed.begin(), nodes.work.failed.end(), is_expected),
             "long calls ended otherwise than as deadline_exceeded or replica_lost");
  all.expect(nodes.work.wrong == 0,
             fmt::format("{} answers of long calls were wrong", nodes.work.wrong));
  all.expect(growth(nodes) <= promised.memory_growth,
             fmt::format("the controller's memory grew by {:.1f} %, expected at most {:.1f}",
                         growth(nodes) * 100, promised.memory_growth * 100));
  all.expect(nodes.after.descriptors <= nodes.before.descriptors,
             fmt::format("the controller has {} descriptors, expected at most {}",
                         nodes.after.descriptors, nodes.before.descriptors));
  all.expect(nodes.after.threads <= nodes.before.threads,
             fmt::format("the controller has {} threads, expected at most {}", nodes.after.threads,
                         nodes.before.threads));
  all.expect(nodes.failed_to_end == 0,
             fmt::format("{} nodes failed to end when they were told to", nodes.failed_to_end));
}

}  // namespace

void print(const findings& f) {
  fmt::print("   at s  killed               pid  and with it  noticed ms  back ms\n");
  for (const auto& k : f.kills) {
    fmt::print("{:7.2f}  {:<14} {:>9}  {:>11}  {:>10}  {:>7}\n", ms(k.at) / 1000, k.victim, k.pid,
               k.held, ms_text(k.noticed), ms_text(k.back));
  }
  print_calls("requests", f.requests);
  fmt::print("sent again: {}\n", f.retries);
  fmt::print("episodes in sessions: {} begun, {} finished, {} told of their loss{}; {} wrong\n",
             f.sessions.begun, f.sessions.finished, f.sessions.lost, list(f.sessions.failed),
             f.sessions.wrong);
  fmt::print("updates of weights: {}; answers by weights older than acknowledged: {}\n", f.updates,
             f.stale);
  if (f.nodes) print_nodes(*f.nodes);
}

nlohmann::json to_json(const findings& f) {
  const auto noticed = times(f, &kill_record::noticed), back = times(f, &kill_record::back);
  nlohmann::json figures{
      {"kills", f.kills.size()},
      {"requests", f.requests.begun},
      {"requests_answered", f.requests.answered},
      {"idempotent_answered_ratio", ratio(f.requests.answered, f.requests.begun)},
      {"requests_longest_ms", ms(f.requests.longest)},
      {"requests_sent_again", f.retries},
      {"hung", all_hung(f)},
      {"service_down", told_service_down(f)},
      {"sessions_lost", f.sessions.lost},
      {"noticed_ms_median", median(noticed)},
      {"noticed_ms_max", last(noticed)},
      {"back_ms_median", median(back)},
      {"back_ms_max", last(back)}};
  if (f.nodes) add_nodes(figures, *f.nodes);
  return figures;
}

std::vector<std::string> breaches(const findings& f, const limits& promised) {
  expectations all;
  judge_calls(all, f);
  judge_kills(all, f, promised);
  if (f.nodes) judge_nodes(all, *f.nodes, promised);
  return all.take();
}

}  // namespace troupe::chaos
