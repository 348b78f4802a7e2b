#pragma once
// A peer that does not go by the rules: a socket alone, with any certificate and any texts.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cluster/hello.hpp"
#include "runtime/cluster/join_secret.hpp"

namespace troupe::detail::testing {

struct raw_security {
  std::string authority;    ///< In PEM, of whom to believe.
  std::string certificate;  ///< In PEM; empty for none.
  std::string key;
};

/// What comes of a talk at HOST:PORT.
struct raw_answer {
  std::string hello;               ///< What answered the last text. Empty: nothing did.
  std::string why;                 ///< Why the other side ended it.
  std::vector<std::string> heard;  ///< All answers, without refusals.
};

/// A text to be said, after hearing that one.
using raw_text = std::function<std::string(const std::string& heard)>;

/// Says each of the texts when the one before was answered, and goes. Without any it waits for the
/// end. `meanwhile`, unless it is null, is called before it goes, if the last one was answered.
raw_answer say_in_turn(const std::string& address, const std::optional<raw_security>& security,
                       const std::vector<raw_text>& texts,
                       const std::function<void()>& meanwhile = nullptr);

/// Says `hello`, or nothing.
raw_answer say_hello(const std::string& address, const std::optional<raw_security>& security,
                     const std::optional<std::string>& hello);

/// Joins in plain text as a node does: with a challenge, and a proof in its hello. `meanwhile`,
/// unless it is null, is called before it goes, if it has joined.
raw_answer join_knowing(const join_secret& secret, const std::string& address, const hello& who,
                        const std::function<void()>& meanwhile = nullptr);

}  // namespace troupe::detail::testing
