#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe::detail::testing {

/// A listener that does not go by the rules: sockets alone, in plain text on a free port, which
/// gives each text that it hears any answer.
class raw_listener {
 public:
  explicit raw_listener(std::function<std::string(const std::string& heard)> answer);
  ~raw_listener();

  std::string address() const;
  /// All texts so far.
  std::vector<std::string> heard() const;

 private:
  class service;
  std::unique_ptr<service> service_;
};

}  // namespace troupe::detail::testing
