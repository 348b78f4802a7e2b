#pragma once
// What ended replicas keep for those that take their places. Internal to runtime/.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/actor/clock.hpp"

namespace troupe::detail {

/// Holds things by key until somebody takes them, at most for `patience`. May be used on any
/// thread.
class kept_for_successors : public std::enable_shared_from_this<kept_for_successors> {
 public:
  static constexpr std::chrono::seconds patience{10};

  explicit kept_for_successors(clock& time) : clock_(time) {}

  /// Returns the key of something that belongs to the replica of that index in the service of that
  /// name. `what` tells it from other things of the replica.
  static std::string key_of(const std::string& service, std::size_t index, const std::string& what);

  /// Replaces what was kept under that key. After `close` it drops `what` at once.
  void keep(const std::string& key, std::shared_ptr<void> what);
  /// Returns null if nothing is kept under that key.
  std::shared_ptr<void> take(const std::string& key);
  /// Drops everything.
  void close();

 private:
  struct entry {
    std::shared_ptr<void> what;
    std::uint64_t number = 0;
  };

  clock& clock_;
  std::mutex mutex_;
  std::map<std::string, entry> all_;
  std::uint64_t last_ = 0;
  bool closed_ = false;
};

}  // namespace troupe::detail
