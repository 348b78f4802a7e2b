#include "tests/chaos/net/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

namespace troupe::chaos {

namespace {

/// What is known of one call.
struct call {
  std::optional<record> begun, ended;
  std::int64_t executions = 0;
};

/// A time from `first` to `last`.
struct interval {
  double first = 0, last = 0;
  std::string session;
};

class examiner {
 public:
  explicit examiner(std::vector<record> history) : history_(std::move(history)) {
    std::stable_sort(history_.begin(), history_.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
  }

  verdict examine() {
    for (const auto& one : history_) note(one);
    for (const auto& [id, of] : calls_) check_call(id, of);
    check_items();
    check_holders();
    check_turns();
    for (auto& [kind, of] : found_.recoveries) std::sort(of.times.begin(), of.times.end());
    return std::move(found_);
  }

 private:
  void find(std::int64_t& count, const std::string& text) {
    ++count;
    if (found_.details.size() < verdict::details_max) found_.details.push_back(text);
  }

  void note(const record& one) {
    if (one.what != record_kind::paused && one.what != record_kind::fault)
      last_sign_[one.process] = std::max(last_sign_[one.process], one.at);
    switch (one.what) {
      case record_kind::begun:
        return note_begun(one);
      case record_kind::ended: {
        auto& of = calls_[one.id];
        if (of.ended) find(found_.wrong, fmt::format("call {} ended twice", one.id));
        of.ended = one;
        return;
      }
      case record_kind::executed:
        ++calls_[one.id].executions;
        if (!one.session.empty()) turns_[one.where].push_back(one.session);
        return;
      case record_kind::held:
        holds_[one.where].push_back({one.at, open_end, one.session});
        return;
      case record_kind::released:
        return note_released(one);
      case record_kind::acknowledged:
        newest_ = std::max(newest_, one.value);
        return;
      case record_kind::kept:
        ++items_[one.id];
        return;
      case record_kind::finished:
        found_.finished = true;
        finished_[one.process] = true;
        return;
      case record_kind::paused:
        pauses_[one.process].push_back({one.at, one.until, {}});
        return;
      case record_kind::fault:
        return note_fault(one);
    }
  }

  void note_begun(const record& one) {
    auto& of = calls_[one.id];
    if (of.begun) find(found_.wrong, fmt::format("call {} began twice", one.id));
    of.begun = one;
    if (one.kind == "read") asked_[one.id] = newest_;
  }

  void note_released(const record& one) {
    auto& holds = holds_[one.where];
    for (auto& hold : holds) {
      if (hold.session == one.session && hold.last == open_end) hold.last = one.at;
    }
  }

  void note_fault(const record& one) {
    auto& of = found_.recoveries[one.kind];
    ++of.faults;
    of.limit = std::max(of.limit, one.limit);
    const double allowed = recovery_factor * one.limit;
    if (one.recovered < 0) {
      return find(found_.late, fmt::format("{} of {} at {:.1f} s: not everything served again",
                                           one.kind, one.id, one.at));
    }
    const double took = std::max(0.0, one.recovered - one.until);
    of.times.push_back(took);
    if (took > allowed) {
      find(found_.late,
           fmt::format("{} of {} at {:.1f} s: everything served again after {:.1f} s, expected at "
                       "most {:.1f}",
                       one.kind, one.id, one.at, took, allowed));
    }
  }

  /// For how long that process was stopped between the two times.
  double paused_between(std::int64_t process, double first, double last) const {
    const auto found = pauses_.find(process);
    if (found == pauses_.end()) return 0;
    double sum = 0;
    for (const auto& pause : found->second)
      sum += std::max(0.0, std::min(last, pause.last) - std::max(first, pause.first));
    return sum;
  }

  /// The time at which that call must have ended; `now` is the latest time that is of interest.
  double due(const record& begun, double now) const {
    return begun.at + begun.deadline + end_grace + paused_between(begun.process, begun.at, now);
  }

  void check_call(const std::string& id, const call& of) {
    if (!of.begun)
      return find(found_.wrong, fmt::format("call {} was executed or ended, but never began", id));
    const auto& begun = *of.begun;
    auto& tally = found_.calls[begun.kind];
    ++tally.begun;
    if (begun.once && of.executions > 1) {
      find(found_.doubled,
           fmt::format("call {} ({}), which is not idempotent, was executed {} times", id,
                       begun.kind, of.executions));
    }
    if (!of.ended) return check_unended(id, begun, tally);
    const auto& ended = *of.ended;
    if (ended.at > due(begun, ended.at)) {
      find(found_.hung,
           fmt::format("call {} ({}) ended {:.1f} s after its start, with a deadline of "
                       "{:.1f} s",
                       id, begun.kind, ended.at - begun.at, begun.deadline));
    }
    if (!ended.ok) {
      ++tally.failed[ended.error];
      // A role on a node loses its controller's services together with its controller.
      if (ended.error == "service_down" && begun.kind != "push")
        find(found_.down, fmt::format("call {} ({}) ended as service_down", id, begun.kind));
      return;
    }
    ++tally.answered;
    check_answer(id, of, begun, ended);
  }

  void check_unended(const std::string& id, const record& begun, call_tally& tally) {
    const double last = last_sign_.at(begun.process);
    if (finished_.contains(begun.process) || last > due(begun, last)) {
      return find(found_.hung, fmt::format("call {} ({}) never ended", id, begun.kind));
    }
    ++tally.cut;
  }

  void check_answer(const std::string& id, const call& of, const record& begun,
                    const record& ended) {
    if (begun.once && of.executions == 0) {
      find(found_.lost,
           fmt::format("call {} ({}) was answered, but no replica executed it", id, begun.kind));
    }
    if (begun.kind == "read") {
      if (ended.value < asked_[id]) {
        find(found_.stale, fmt::format("call {} read version {} after version {} was acknowledged",
                                       id, ended.value, asked_[id]));
      }
    } else if (ended.value != ended.expected) {
      find(found_.wrong, fmt::format("call {} ({}) was answered with {}, expected {}", id,
                                     begun.kind, ended.value, ended.expected));
    }
  }

  /// Only the controller that ends in good order says what the ledger has.
  void check_items() {
    if (!found_.finished) return;
    for (const auto& [id, of] : calls_) {
      if (!of.begun || of.begun->kind != "push") continue;
      const auto kept = items_.find(id);
      const auto times = kept == items_.end() ? 0 : kept->second;
      if (of.ended && of.ended->ok && times == 0) {
        find(found_.lost,
             fmt::format("item {} was acknowledged, and the ledger does not have it", id));
      }
      if (times > 1 && of.executions <= 1)
        find(found_.doubled, fmt::format("item {} is {} times in the ledger", id, times));
    }
  }

  /// No two sessions of one replica are held at the same time.
  void check_holders() {
    for (auto& [where, holds] : holds_) {
      double last = -1;
      std::string by;
      for (const auto& hold : holds) {
        if (hold.first < last) {
          find(found_.overlapping,
               fmt::format("session {} of replica {} was acquired while {} held "
                           "it",
                           hold.session, where, by));
        }
        // A holder that was killed doesn't say so. What its replica executed is judged below.
        if (hold.last != open_end && hold.last > last) {
          last = hold.last;
          by = hold.session;
        }
      }
    }
  }

  /// Once a replica has executed a call of another session, it executes none of the former.
  void check_turns() {
    for (const auto& [where, sessions] : turns_) {
      std::map<std::string, bool> over;
      std::string now;
      for (const auto& session : sessions) {
        if (session == now) continue;
        if (!now.empty()) over[now] = true;
        now = session;
        if (over.contains(session)) {
          find(found_.overlapping,
               fmt::format("replica {} executed a call of session {} after one of another session",
                           where, session));
        }
      }
    }
  }

  static constexpr double open_end = 1e300;

  std::vector<record> history_;
  verdict found_;
  std::unordered_map<std::string, call> calls_;
  std::unordered_map<std::string, std::int64_t> asked_;  ///< Reads, and the version they must have.
  std::unordered_map<std::string, std::int64_t> items_;  ///< How often the ledger has each.
  std::map<std::string, std::vector<interval>> holds_;   ///< By replica, in the order of time.
  std::map<std::string, std::vector<std::string>> turns_;  ///< By replica, the sessions of calls.
  std::map<std::int64_t, std::vector<interval>> pauses_;
  std::map<std::int64_t, double> last_sign_;  ///< Of each process.
  std::map<std::int64_t, bool> finished_;
  std::int64_t newest_ = 0;  ///< Version that was acknowledged so far.
};

nlohmann::json median(const std::vector<double>& sorted) {
  return sorted.empty() ? nlohmann::json() : nlohmann::json(sorted[sorted.size() / 2]);
}
nlohmann::json last(const std::vector<double>& sorted) {
  return sorted.empty() ? nlohmann::json() : nlohmann::json(sorted.back());
}

}  // namespace

bool verdict::holds() const {
  return finished && hung + lost + doubled + overlapping + stale + wrong + down + late == 0;
}

verdict judge(std::vector<record> history) { return examiner(std::move(history)).examine(); }

nlohmann::json to_json(const verdict& of) {
  nlohmann::json made{{"hung", of.hung},         {"lost", of.lost},
                      {"doubled", of.doubled},   {"overlapping", of.overlapping},
                      {"stale", of.stale},       {"wrong", of.wrong},
                      {"service_down", of.down}, {"recovered_late", of.late},
                      {"finished", of.finished}, {"findings", of.details}};
  std::int64_t operations = 0, faults = 0;
  for (const auto& [kind, tally] : of.calls) {
    operations += tally.begun;
    made["calls"][kind] = {{"begun", tally.begun},
                           {"answered", tally.answered},
                           {"cut", tally.cut},
                           {"failed", tally.failed}};
  }
  std::vector<double> all;
  for (const auto& [kind, recovered] : of.recoveries) {
    faults += recovered.faults;
    all.insert(all.end(), recovered.times.begin(), recovered.times.end());
    made["recoveries"][kind] = {{"faults", recovered.faults},
                                {"median_s", median(recovered.times)},
                                {"max_s", last(recovered.times)},
                                {"limit_s", recovered.limit}};
  }
  std::sort(all.begin(), all.end());
  made["operations"] = operations;
  made["faults"] = faults;
  made["recovery_median_s"] = median(all);
  made["recovery_max_s"] = last(all);
  return made;
}

void print(const verdict& of) {
  std::int64_t operations = 0, faults = 0;
  for (const auto& [kind, tally] : of.calls) {
    operations += tally.begun;
    std::string failed;
    for (const auto& [error, n] : tally.failed) failed += fmt::format(", {} {}", n, error);
    fmt::print("{:<8} {:>8} begun, {:>8} answered, {} cut short with their process{}\n", kind,
               tally.begun, tally.answered, tally.cut, failed);
  }
  fmt::print("{:<34} {:>6} {:>9} {:>7} {:>8}\n", "fault", "number", "median s", "max s", "limit s");
  for (const auto& [kind, recovered] : of.recoveries) {
    faults += recovered.faults;
    const auto& times = recovered.times;
    fmt::print("{:<34} {:>6} {:>9} {:>7} {:>8.1f}\n", kind, recovered.faults,
               times.empty() ? "never" : fmt::format("{:.1f}", times[times.size() / 2]),
               times.empty() ? "never" : fmt::format("{:.1f}", times.back()), recovered.limit);
  }
  for (const auto& one : of.details) fmt::print("NOT AS PROMISED: {}\n", one);
  if (!of.finished) fmt::print("NOT AS PROMISED: the last controller did not end in good order\n");
  fmt::print("{} operations, {} faults\n", operations, faults);
  fmt::print(
      "hung {}, lost {}, doubled {}, overlapping {}, stale {}, wrong {}, service down {}, "
      "recovered late {}\n",
      of.hung, of.lost, of.doubled, of.overlapping, of.stale, of.wrong, of.down, of.late);
}

}  // namespace troupe::chaos
