#pragma once
// The errors that a call of a service can end with. Each kind has one consequence; see
// docs/errors.md.

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace troupe {

enum class error_kind {
  role_error,         ///< The endpoint threw. The replica continues to serve.
  overloaded,         ///< Every queue was full, and the caller had asked not to wait.
  deadline_exceeded,  ///< The caller's deadline passed. A call that has not started is dropped.
  cancelled,          ///< The caller's scope ended, or the program is stopping.
  /// The replica died during the call. Only calls declared as idempotent are retried.
  replica_lost,
  /// The replica that held the state of a session died. A session is never moved silently.
  session_lost,
  poison,  ///< The call was refused because it has killed `poison_limit` replicas.
  /// The service had more than `max_restarts` restarts in `restart_window`, or was stopped.
  service_down,
};

std::string_view to_string(error_kind kind);

/// The base class of every error that a routed call can end with.
class call_error : public std::runtime_error {
 public:
  call_error(error_kind kind, const std::string& message);
  error_kind kind() const noexcept { return kind_; }

 private:
  error_kind kind_;
};

/// Thrown to the caller if the endpoint threw. `what()` names the service and the endpoint and
/// repeats the message; `cause()` is the exception itself.
class role_error : public call_error {
 public:
  role_error(const std::string& where, std::exception_ptr cause);
  const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  std::exception_ptr cause_;
};

/// An endpoint throws it if the replica's state can't be trusted any more. The replica is
/// restarted, and the call ends as `replica_lost`.
class fatal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns true if `error` is a call_error of that kind.
bool is_kind(const std::exception_ptr& error, error_kind kind);

/// Returns the text of any exception, including one that is not a std::exception.
std::string describe(const std::exception_ptr& error);

}  // namespace troupe
