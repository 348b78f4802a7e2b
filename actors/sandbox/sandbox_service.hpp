#pragma once
// Internal to sandbox/: the queue of runs, and the sandboxes that are started ahead.

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/sandbox/code_counters.hpp"
#include "actors/sandbox/sandbox.hpp"
#include "runtime/coroutine/task.hpp"
#include "runtime/net/io_thread.hpp"
#include "runtime/service/external_result.hpp"

namespace troupe {

/// Runs that share a thread. It starts the sandboxes, reads what they write, and keeps their
/// deadlines; the kernel kills the sandboxes if it ends.
class sandbox_service {
 public:
  /// See sandbox_maker's constructor. If `command` is not empty, sandboxes are started ahead.
  sandbox_service(sandbox_options options, std::vector<std::string> command,
                  metrics_registry* metrics);
  /// Kills all runs, and waits until they have ended.
  ~sandbox_service();

  /// Carries out a run as soon as fewer than `parallel` are under way. If the coroutine is
  /// destroyed, the run is killed. `own_command` is that of a service without one.
  task<code_result> run(std::vector<std::string> own_command, sandbox_input input);

 private:
  /// A run that waits.
  struct job {
    std::int64_t number;
    std::vector<std::string> command;
    sandbox_input input;
    external_result<code_result> result;
  };

  // These are called on the thread.
  void add(job which);
  void cancel(std::int64_t number);
  void go_on();
  void start(job which);
  void ended(std::int64_t number, outcome<code_result> result,
             const external_result<code_result>& to);
  std::shared_ptr<sandbox> take_warm();
  void warm_up();

  const sandbox_maker maker_;
  const bool starts_ahead_;
  const std::size_t parallel_, warm_;
  code_counters ends_;
  std::atomic<std::int64_t> next_number_ = 0;
  std::deque<job> waiting_;
  std::map<std::int64_t, std::shared_ptr<sandbox>> running_;
  std::deque<std::shared_ptr<sandbox>> warmed_;
  std::string failed_ahead_;  ///< why the last sandbox that was started ahead ended early
  bool stopping_ = false;
  std::unique_ptr<detail::io_thread> thread_;  // ends before all else
};

}  // namespace troupe
