#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// Where a service's replicas run. In a deterministic system all run on its one thread; replicas
/// that would be elsewhere are reached over a simulated link there.
class placement {
 public:
  static const placement shared;  ///< Scheduled on the pool. For code that doesn't block.
  static const placement thread;  ///< A thread of its own. For code that blocks or computes long.
  /// A child process of its own, of the same binary: what kills it costs this replica alone. The
  /// role's constructor arguments, and its endpoints' arguments and results, are sent as bytes.
  static const placement process;
  /// A process on a machine that has joined under a name which the pattern matches: "gpu-1",
  /// "gpu-*" ('*' stands for any text), "*".
  static placement node(std::string pattern) { return {kind::node, std::move(pattern)}; }

  bool operator==(const placement&) const = default;
  /// In another process than the service's.
  bool elsewhere() const noexcept { return kind_ == kind::process || kind_ == kind::node; }
  bool on_node() const noexcept { return kind_ == kind::node; }
  /// Of the nodes' names.
  const std::string& pattern() const noexcept { return pattern_; }
  /// "shared", "thread", "process", "node:gpu-*".
  std::string text() const;

 private:
  enum class kind { shared, thread, process, node };
  constexpr placement(kind where, std::string pattern)
      : kind_(where), pattern_(std::move(pattern)) {}

  kind kind_;
  std::string pattern_;
};

inline const placement placement::shared{placement::kind::shared, {}};
inline const placement placement::thread{placement::kind::thread, {}};
inline const placement placement::process{placement::kind::process, {}};

inline std::string placement::text() const {
  if (kind_ == kind::node) return "node:" + pattern_;
  return kind_ == kind::shared ? "shared" : kind_ == kind::thread ? "thread" : "process";
}

namespace detail {

/// Whether a node's name fits: '*' in the pattern stands for any text, also none.
bool name_fits(std::string_view name, std::string_view pattern);

}  // namespace detail
}  // namespace troupe
