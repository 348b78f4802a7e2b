#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// The place where a service's replicas run. A deterministic system runs all of them on its one
/// thread, and reaches a replica that would be in another process over a simulated link.
class placement {
 public:
  /// The replica shares the pool's threads. For code that doesn't block.
  static const placement shared;
  /// The replica has its own thread. For code that blocks or computes long.
  static const placement thread;
  /// Each replica runs in a child process of its own, of the same binary or of
  /// serve_options::program, so a crash of that process costs this replica alone. The role's
  /// constructor arguments and its endpoints' arguments and results are sent as bytes.
  static const placement process;
  /// Each replica runs in a process of a node whose name matches the pattern, such as "gpu-1",
  /// "gpu-*" or "*"; '*' stands for any text, also none.
  static placement node(std::string pattern) { return {kind::node, std::move(pattern)}; }

  bool operator==(const placement&) const = default;
  /// True if replicas run in another process than the service's.
  bool elsewhere() const noexcept { return kind_ == kind::process || kind_ == kind::node; }
  bool on_node() const noexcept { return kind_ == kind::node; }
  /// The pattern of the nodes' names; empty if the placement isn't a node.
  const std::string& pattern() const noexcept { return pattern_; }
  /// The placement as text: "shared", "thread", "process" or "node:gpu-*".
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

/// True if a node's name matches the pattern, in which '*' stands for any text, also none.
bool name_fits(std::string_view name, std::string_view pattern);

}  // namespace detail
}  // namespace troupe
