#include "tests/runtime/simulation/ledger.hpp"

namespace troupe::simulation {

namespace {

std::string name_of(int id) { return "call " + std::to_string(id); }

}  // namespace

void ledger::require(bool holds, const char* invariant, const std::string& detail) {
  if (!holds && !broken) broken = breach{invariant, detail};
}

int ledger::begin(int limit) {
  calls_.push_back({limit});
  return static_cast<int>(calls_.size()) - 1;
}

int ledger::begin_inside(int limit) {
  const int id = begin(limit);
  calls_.back().inside = true;
  return id;
}

void ledger::executed(int id) {
  auto& call = calls_.at(static_cast<std::size_t>(id));
  ++call.executions;
  require(call.limit == 0 || call.executions <= call.limit, "no double execution",
          name_of(id) + " was executed " + std::to_string(call.executions) + " times");
}

void ledger::answer(int id, const outcome<int>& result) {
  const auto& call = calls_.at(static_cast<std::size_t>(id));
  if (result.ok()) {
    ++ends["ok"];
    require(result.value() == id, "every reply reaches its caller",
            name_of(id) + " got the reply of call " + std::to_string(result.value()));
    require(call.executions > 0, "no reply without an execution", name_of(id) + " got a reply");
    return;
  }
  try {
    result.value();
  } catch (const call_error& e) {
    ++ends[std::string(to_string(e.kind()))];
    require(
        (e.kind() != error_kind::service_down || call.inside) && e.kind() != error_kind::cancelled,
        "only errors that can be", name_of(id) + ": " + e.what());
    require(e.kind() != error_kind::overloaded || call.limit != 1 || call.executions == 0,
            "a refused call is not executed", name_of(id) + ": " + e.what());
  } catch (const std::exception& e) {
    require(false, "only errors that can be", name_of(id) + ": " + e.what());
  }
}

void ledger::all_answered(int id) {
  auto& call = calls_.at(static_cast<std::size_t>(id));
  ++call.ends;
  require(call.ends == 1 && (!call.given_up || call.inside), "every call ends once",
          name_of(id) + " ended " + std::to_string(call.ends) + " times");
}

void ledger::ended(int id, const outcome<int>& result) {
  answer(id, result);
  all_answered(id);
}

void ledger::given_up(int id) {
  auto& call = calls_.at(static_cast<std::size_t>(id));
  if (call.ends > 0) return;
  call.given_up = true;
  ++ends["given up"];
}

void ledger::check_all_ended() {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    require(calls_[i].ends == 1 || calls_[i].given_up, "no lost reply",
            name_of(static_cast<int>(i)) + " never ended");
  }
}

}  // namespace troupe::simulation
