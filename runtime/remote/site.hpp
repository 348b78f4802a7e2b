#pragma once
// The places outside this process where replicas live. Each placement has its site. Internal to
// runtime/.

#include <exception>
#include <functional>
#include <memory>

#include "runtime/remote/connection.hpp"
#include "runtime/service/replica_info.hpp"
#include "runtime/service/state.hpp"

namespace troupe::detail {

/// A replica's place in another process. Its destructor gives the place up, and a process that was
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
  /// Finds or makes a place for one replica and calls `got` once, on any thread.
  virtual void lodge(const service_state& service, const replica_info& info, answer got) = 0;
  /// Gives up all places. It is the last call.
  virtual void close() = 0;
};

}  // namespace troupe::detail
