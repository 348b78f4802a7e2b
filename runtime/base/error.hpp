#pragma once
// What a call across actors can suffer. Each kind has one consequence; see docs/errors.md.

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace troupe {

enum class error_kind {
  role_error,         ///< The endpoint threw. The replica goes on serving.
  overloaded,         ///< Every queue was full and the caller had asked not to wait.
  deadline_exceeded,  ///< The caller's deadline passed. Dropped before it starts where possible.
  cancelled,          ///< The caller's scope ended, or the program is stopping.
  replica_lost,       ///< The replica died during the call. Retried only if declared idempotent.
  session_lost,       ///< The replica that held a session's state died. Never moved silently.
  poison,             ///< This request has killed `poison_limit` replicas: refused.
  service_down,       ///< Restarts exceeded `max_restarts` in `restart_window`, or it was stopped.
};

std::string_view to_string(error_kind kind);

/// The base of every error that a routed call can end with.
class call_error : public std::runtime_error {
 public:
  call_error(error_kind kind, const std::string& message);
  error_kind kind() const noexcept { return kind_; }

 private:
  error_kind kind_;
};

/// The endpoint threw: `what()` names service and endpoint and repeats its message; `cause()` is
/// the exception itself.
class role_error : public call_error {
 public:
  role_error(const std::string& where, std::exception_ptr cause);
  const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  std::exception_ptr cause_;
};

/// Thrown by an endpoint whose state can't be trusted any more: the replica is restarted, and the
/// call ends as `replica_lost`.
class fatal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// True of a call_error of that kind.
bool is_kind(const std::exception_ptr& error, error_kind kind);

/// The text of any exception, also of one that is not a std::exception.
std::string describe(const std::exception_ptr& error);

}  // namespace troupe
