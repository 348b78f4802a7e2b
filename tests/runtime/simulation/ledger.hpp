#pragma once
// What a simulated workload writes down of every call, and what must hold of it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/error.hpp"
#include "runtime/base/outcome.hpp"
#include "tests/runtime/simulation/local_pointer.hpp"

namespace troupe::simulation {

/// The first invariant that did not hold, and how.
struct breach {
  std::string invariant;
  std::string detail;
};

class ledger {
 public:
  /// A call is about to be made. It may be executed `limit` times; 0: as often as it likes.
  int begin(int limit);
  /// The same, in a role that may be in another process. If the link there is cut, the call goes on
  /// until that process notices, and then ends as service_down.
  int begin_inside(int limit);
  /// A replica executes it.
  void executed(int id);
  /// Its await has ended.
  void ended(int id, const outcome<int>& result);
  /// One answer of a call to every replica, whose await has ended.
  void answer(int id, const outcome<int>& result);
  void all_answered(int id);
  /// Its caller was destroyed, unless the call had ended before.
  void given_up(int id);
  /// The workload is over: every call has ended or was given up.
  void check_all_ended();

  /// Notes a breach unless there is one.
  void require(bool holds, const char* invariant, const std::string& detail);

  std::optional<breach> broken;
  std::map<std::string, std::uint64_t> ends;  ///< Calls by how they ended: "ok", an error's kind.
  int frames = 0;                             ///< Coroutines and roles of the workload that live.

 private:
  struct call {
    int limit;
    int executions = 0;
    int ends = 0;
    bool given_up = false;
    bool inside = false;
  };
  std::vector<call> calls_;
};

/// Lives in a frame or a role.
class counted_frame {
 public:
  explicit counted_frame(ledger& book) : book_(book) { ++book_.frames; }
  counted_frame(const counted_frame&) = delete;
  ~counted_frame() { --book_.frames; }

 private:
  ledger& book_;
};

}  // namespace troupe::simulation

template <>
struct troupe::wire_codec<troupe::simulation::ledger*>
    : troupe::simulation::local_pointer_codec<troupe::simulation::ledger> {};
