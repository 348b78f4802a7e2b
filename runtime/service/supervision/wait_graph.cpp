#include "runtime/service/supervision/wait_graph.hpp"

#include <algorithm>
#include <set>

namespace troupe::detail {

namespace {

using stage = awaited_call::stage;

/// The waiting calls, and the work that they block.
class blocked_work {
 public:
  /// Work in `freed` goes on whatever it awaits.
  blocked_work(const wait_graph& graph, const std::set<work_id>& freed) : graph_(graph) {
    for (const auto& call : graph.calls) {
      if (!freed.contains(call.by)) blocked_.insert(call.by);
    }
    do {
      find_stuck();
    } while (take_out_what_goes_on());
  }

  bool empty() const { return blocked_.empty(); }
  work_id first() const { return *blocked_.begin(); }

  bool blocks(const awaited_call& call) const {
    switch (call.where) {
      case stage::in_endpoint:
        return blocked_.contains({call.at, call.work});
      case stage::in_queue:
        return stuck_.contains(call.at);
      case stage::for_room:
        return call.at == awaited_call::any_replica ? full_services_.contains(call.to)
                                                    : full_.contains(call.at);
      case stage::for_session: {
        const auto& ready = graph_.ready.at(call.to);
        const auto left = std::count_if(ready.begin(), ready.end(), [&](auto replica) {
          return !holder_at(replica, call.exclusive);
        });
        return !ready.empty() && static_cast<std::size_t>(left) < call.count;
      }
    }
    return false;
  }
  /// Returns the call that keeps blocked work from going on.
  const awaited_call& awaited_by(work_id work) const {
    return *std::find_if(graph_.calls.begin(), graph_.calls.end(),
                         [&](const auto& call) { return call.by == work && blocks(call); });
  }
  /// Returns some blocked work that a blocked call waits for.
  work_id behind(const awaited_call& call) const {
    if (call.where == stage::in_endpoint) return {call.at, call.work};
    if (call.where == stage::for_session) {
      for (const auto replica : graph_.ready.at(call.to)) {
        if (const auto* session = holder_at(replica, call.exclusive)) return session->by;
      }
    }
    const auto at =
        call.at == awaited_call::any_replica ? graph_.ready.at(call.to).front() : call.at;
    return *blocked_.lower_bound({at, 0});
  }
  bool contains(work_id work) const { return blocked_.contains(work); }

 private:
  /// Returns a session of blocked work that keeps another one from being opened; null if none does.
  const held_by_work* holder_at(std::uint64_t replica, bool exclusive) const {
    const auto place =
        std::find_if(graph_.sessions.begin(), graph_.sessions.end(), [&](const auto& session) {
          return session.replica == replica && (exclusive || session.exclusive) &&
                 blocked_.contains(session.by);
        });
    return place == graph_.sessions.end() ? nullptr : &*place;
  }

  void find_stuck() {
    stuck_.clear();
    full_.clear();
    full_services_.clear();
    for (const auto& replica : graph_.busy) {
      const auto first = blocked_.lower_bound({replica.id, 0});
      const auto last = blocked_.lower_bound({replica.id + 1, 0});
      if (static_cast<std::size_t>(std::distance(first, last)) < replica.ongoing) continue;
      stuck_.insert(replica.id);
      if (replica.full) full_.insert(replica.id);
    }
    for (const auto& [service, replicas] : graph_.ready) {
      const bool all = std::all_of(replicas.begin(), replicas.end(),
                                   [&](auto replica) { return full_.contains(replica); });
      if (all && !replicas.empty()) full_services_.insert(service);
    }
  }

  bool take_out_what_goes_on() {
    std::set<work_id> still;
    for (const auto& call : graph_.calls) {
      if (blocked_.contains(call.by) && blocks(call)) still.insert(call.by);
    }
    const bool changed = still.size() < blocked_.size();
    blocked_.swap(still);
    return changed;
  }

  const wait_graph& graph_;
  std::set<work_id> blocked_;
  std::set<std::uint64_t> stuck_;  ///< Replicas that can't begin any call.
  std::set<std::uint64_t> full_;   ///< Those of the stuck replicas that can't give room.
  std::set<std::size_t> full_services_;
};

/// Returns calls that wait for each other in a cycle, with one that has not begun as the last.
/// Empty if all calls have begun.
std::vector<const awaited_call*> cycle_in(const blocked_work& blocked) {
  std::vector<work_id> way{blocked.first()};
  std::vector<const awaited_call*> calls;
  for (;;) {
    calls.push_back(&blocked.awaited_by(way.back()));
    const auto next = blocked.behind(*calls.back());
    const auto seen = std::find(way.begin(), way.end(), next);
    if (seen != way.end()) {
      calls.erase(calls.begin(), calls.begin() + (seen - way.begin()));
      break;
    }
    way.push_back(next);
  }
  // Other calls make the calls in endpoints, so not all calls are in endpoints.
  const auto waits = std::find_if(calls.begin(), calls.end(), [](const auto* call) {
    return call->where != stage::in_endpoint;
  });
  if (waits == calls.end()) return {};
  std::rotate(calls.begin(), waits + 1, calls.end());
  const bool through_sessions = std::any_of(calls.begin(), calls.end(), [](const auto* call) {
    return call->where == stage::for_session;
  });
  if (through_sessions) return calls;
  // If the cycle passes a service twice, the part from that service back to it is enough.
  const auto start = std::find_if(calls.rbegin(), calls.rend(),
                                  [&](const auto* call) { return call->from == calls.back()->to; });
  calls.erase(calls.begin(), start.base() - 1);
  return calls;
}

}  // namespace

std::vector<wait_cycle> cycles_of(const wait_graph& graph) {
  std::vector<wait_cycle> cycles;
  std::set<work_id> freed;
  for (;;) {
    const blocked_work blocked(graph, freed);
    if (blocked.empty()) return cycles;
    wait_cycle cycle;
    std::set<std::pair<std::size_t, std::size_t>> steps;
    for (const auto* call : cycle_in(blocked)) {
      cycle.services.push_back(call->from);
      if (call->where == stage::for_session) cycle.services.push_back(call->to);
      steps.emplace(call->from, call->to);
    }
    for (std::size_t i = 0; i < graph.calls.size(); ++i) {
      const auto& call = graph.calls[i];
      if (call.where == stage::in_endpoint || !steps.contains({call.from, call.to})) continue;
      if (!blocked.contains(call.by) || !blocked.blocks(call)) continue;
      cycle.calls.push_back(i);
      freed.insert(call.by);
    }
    if (cycle.calls.empty()) return cycles;
    auto& members = cycle.services;
    std::rotate(members.begin(), std::min_element(members.begin(), members.end()), members.end());
    cycles.push_back(std::move(cycle));
  }
}

}  // namespace troupe::detail
