#pragma once
// Where replicas of a placement outside of this process live. Internal to runtime/.

#include <exception>
#include <functional>
#include <memory>

#include "runtime/remote/connection.hpp"
#include "runtime/service/options/replica_info.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

/// A replica's place in another process. Dropping it gives the place up: a process that was
/// started for it ends.
class lodging {
 public:
  explicit lodging(std::shared_ptr<connection> to) : to(std::move(to)) {}
  virtual ~lodging() = default;
  const std::shared_ptr<connection> to;
};

class site {
 public:
  using answer = std::function<void(std::shared_ptr<lodging>, std::exception_ptr)>;

  virtual ~site() = default;
  /// Finds or makes a place for one replica and tells `got`, on any thread, once.
  virtual void lodge(const service_state& service, const replica_info& info, answer got) = 0;
  /// Gives up all places. No call follows.
  virtual void close() = 0;
};

}  // namespace troupe::detail
