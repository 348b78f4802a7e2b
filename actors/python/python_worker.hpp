#pragma once
// A Python process that hosts environments or functions, and the messages to it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stdexcept>
#include <string>

#include "actors/python/python_options.hpp"

namespace troupe {

/// Thrown when environments or functions in Python can't be made, or a command of theirs fails. The
/// message has Python's traceback.
class python_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Thrown when a Python process has ended, or was ended because it did not answer in time.
class python_ended : public std::runtime_error {
 public:
  explicit python_ended(const std::string& what, bool was_late = false)
      : std::runtime_error(what), was_late(was_late) {}
  bool was_late;  ///< True if the process was ended because it did not answer in time.
};

/// The longest time for an answer, and the option that sets it, such as "env.step_timeout", which
/// messages name.
struct call_limit {
  double seconds;
  std::string option = {};  ///< Empty for a limit that has none.

  std::string text() const;  ///< Such as "60 s (env.step_timeout)".
};

/// The limits of the calls of environments.
struct environment_limits {
  explicit environment_limits(const python_options& options)
      : start{options.start_timeout, "env.start_timeout"},
        reset{options.reset_timeout, "env.reset_timeout"},
        step{options.step_timeout, "env.step_timeout"} {}

  call_limit start, reset, step;
};

/// The times that a step and each reset in it may take. After a reset the step has its time anew.
struct step_limits {
  call_limit step, reset;
  /// A number in the shared memory, by which the process tells that a reset has ended: it is then
  /// the nanoseconds of the steady clock. When a reset begins, it is their complement.
  std::int64_t& mark;
};

/// A running process `python -m troupe_worker`. One thread at a time may use it. When the system of
/// the calling role ends, a call that waits throws python_ended.
class python_worker {
 public:
  /// Starts the process. `name` names it in logs and errors. Throws python_error if the interpreter
  /// or the worker's code is not found, and std::system_error.
  /// `memory_of`: a worker whose shared memory the new one has, too; null means memory of its own.
  python_worker(const python_options& options, std::string name,
                const python_worker* memory_of = nullptr);
  ~python_worker();
  python_worker(const python_worker&) = delete;

  /// Sends a command and returns the answer. `limit` is the time that the answer may take; then the
  /// process is killed. `action` says in errors what the process did. Throws python_error with the
  /// text of an error that Python answers, and python_ended.
  nlohmann::json call(const nlohmann::json& command, const call_limit& limit,
                      const std::string& action);
  /// Sends a command like `call`, to a process that has a handler of `give_up_signal`. When the
  /// seconds are over, the process gets this signal once a second, by which it gives up what it
  /// does and answers that it did. It is killed `give_up_seconds` later.
  nlohmann::json call_or_give_up(const nlohmann::json& command, const call_limit& limit,
                                 const std::string& action);
  static constexpr double give_up_seconds = 5;
  /// A real-time signal, since what programs use SIGALRM for must still work.
  static int give_up_signal();
  /// Makes a step of the environments, whose actions and results are in the shared memory. Returns
  /// the list of events, which is null if there are none. Throws python_ended.
  nlohmann::json step(const step_limits& limits);

  /// Makes the shared memory of so many bytes, which are 0. A process that has begun anew keeps its
  /// memory, so later calls must be for the same size. It is not for a worker that has the memory
  /// of another one.
  std::span<std::byte> share(std::size_t bytes);
  /// Ends the process at once.
  void kill();
  /// True until the process has ended.
  bool is_running() const;
  pid_t pid() const;

 private:
  struct state;
  const std::unique_ptr<state> state_;
};

}  // namespace troupe
