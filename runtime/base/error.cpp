#include "runtime/base/error.hpp"

namespace troupe {

std::string_view to_string(error_kind kind) {
  switch (kind) {
    case error_kind::role_error:
      return "role_error";
    case error_kind::overloaded:
      return "overloaded";
    case error_kind::deadline_exceeded:
      return "deadline_exceeded";
    case error_kind::cancelled:
      return "cancelled";
    case error_kind::replica_lost:
      return "replica_lost";
    case error_kind::session_lost:
      return "session_lost";
    case error_kind::poison:
      return "poison";
    case error_kind::service_down:
      return "service_down";
  }
  return "unknown";
}

call_error::call_error(error_kind kind, const std::string& message)
    : std::runtime_error(std::string(to_string(kind)) + ": " + message), kind_(kind) {}

role_error::role_error(const std::string& where, std::exception_ptr cause)
    : call_error(error_kind::role_error, where + " threw: " + describe(cause)),
      cause_(std::move(cause)) {}

bool is_kind(const std::exception_ptr& error, error_kind kind) {
  if (!error) return false;
  try {
    std::rethrow_exception(error);
  } catch (const call_error& e) {
    return e.kind() == kind;
  } catch (...) {
    return false;
  }
}

std::string describe(const std::exception_ptr& error) {
  if (!error) return "no error";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

}  // namespace troupe
