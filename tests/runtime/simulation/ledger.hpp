#pragma once
// What a simulated workload writes down of every call, and what must hold of it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/error.hpp"
#include "runtime/base/outcome.hpp"
#include "runtime/wire/codec.hpp"

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

/// Simulated processes are all this one.
template <>
struct troupe::wire_codec<troupe::simulation::ledger*> {
  static std::size_t size(troupe::simulation::ledger*) { return sizeof(std::uintptr_t); }
  static void write(troupe::simulation::ledger* book, troupe::wire_writer& to) {
    to.write(reinterpret_cast<std::uintptr_t>(book));
  }
  static troupe::simulation::ledger* read(troupe::wire_reader& from) {
    return reinterpret_cast<troupe::simulation::ledger*>(from.read<std::uintptr_t>());
  }
};
