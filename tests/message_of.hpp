#pragma once

#include <exception>
#include <string>
#include <utility>

namespace troupe::testing {

/// Returns the text of the exception that `act()` throws; "" if it throws none. An exception that
/// is no Error is passed on.
template <class Error = std::exception, class Act>
std::string message_of(Act&& act) {
  try {
    std::forward<Act>(act)();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace troupe::testing
