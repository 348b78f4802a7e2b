#pragma once
// A peer that does not go by the rules: gRPC alone, with any certificate and any hello.

#include <optional>
#include <string>

namespace troupe::detail::testing {

struct raw_security {
  std::string authority;  ///< In PEM, of whom to believe. Of a certificate: empty for none.
  std::string certificate;
  std::string key;
};

/// What comes of saying `hello`, or nothing, at HOST:PORT: what the other side says, or why it does
/// not.
struct raw_answer {
  std::string hello;  ///< Empty: refused.
  std::string why;
};
raw_answer say_hello(const std::string& address, const std::optional<raw_security>& security,
                     const std::optional<std::string>& hello);

}  // namespace troupe::detail::testing
