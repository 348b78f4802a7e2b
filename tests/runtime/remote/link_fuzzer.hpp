#pragma once
// Random messages at peers of every side: every kind, with numbers and names that are in use,
// that were, that are another link's, and that never were.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace troupe::testing {

struct fuzz_report {
  std::uint64_t messages = 0;
  std::uint64_t links = 0;       ///< That were begun; most end by a message that is refused.
  std::uint64_t answers = 0;     ///< Messages that the peers have sent.
  std::uint64_t made = 0;        ///< Roles, by guests: as they may.
  std::uint64_t executed = 0;    ///< Calls of what the link had been given or had made.
  std::uint64_t kept_bytes = 0;  ///< The most that a system kept of links that had ended.
  /// What a message may not bring about, by what it was: none, if all is well.
  std::map<std::string, std::uint64_t> outside;

  std::uint64_t effects_outside() const;
};

/// So many messages, drawn from the seed, a third at each side. The log should be off.
fuzz_report fuzz_links(std::uint64_t seed, std::uint64_t messages);

}  // namespace troupe::testing
