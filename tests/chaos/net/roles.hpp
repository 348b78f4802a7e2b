#pragma once
// The roles of a run with faults. Each of their replicas runs in a process of its own on a node,
// except for the ledger, which belongs to the controller.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "actors/environments/vector_environment.hpp"
#include "runtime/base/descriptor.hpp"
#include "runtime/system/system.hpp"

namespace troupe::chaos {

/// A name that no other replica has, in any process and at any time of a run.
std::string own_name(const char* role, const replica_info& info);

/// Says what it executes.
class worker {
 public:
  explicit worker(const replica_info& info) : name_(own_name("worker", info)) {}

  /// Not idempotent.
  std::int64_t work(const std::string& id, std::int64_t number);
  /// Idempotent.
  std::int64_t ask(const std::string& id, std::int64_t number);

 private:
  const std::string name_;
};

/// Has the newest version that was published.
class reader {
 public:
  explicit reader(std::int64_t version) : version_(version) {}

  std::int64_t version() const { return version_; }
  void learn(std::int64_t version) { version_ = version; }
  /// Idempotent.
  std::int64_t read() { return version_; }

 private:
  std::int64_t version_;
};

/// Keeps items in a file of the controller, which outlives it.
class ledger {
 public:
  /// Reads what is there.
  explicit ledger(const std::string& path);

  /// Answers once the item is in the file. Not idempotent.
  std::int64_t push(const std::string& item);
  std::vector<std::string> items() { return items_; }

 private:
  const std::string path_;
  std::vector<std::string> items_;
  detail::descriptor file_;
};

/// Pushes items to the ledger over the link to the controller.
class producer {
 public:
  producer(const replica_info& info, service<ledger> to)
      : name_(own_name("producer", info)), to_(std::move(to)) {}

  /// Not idempotent. Returns `number` once it has tried to push two items.
  task<std::int64_t> produce(std::string id, std::int64_t number);

 private:
  const std::string name_;
  const service<ledger> to_;
};

/// Steps an environment in a Python process, in exclusive sessions.
class guest {
 public:
  explicit guest(const replica_info& info);

  /// Begins an episode. Returns the name of this replica.
  std::string enter(const std::string& id, const std::string& session);
  /// Returns the number of steps in this session.
  std::int64_t step(const std::string& id, const std::string& session);

 private:
  const std::string name_;
  std::unique_ptr<vector_environment> environment_;
  std::int64_t steps_ = 0;
};

/// The deadline of a call, and that of an item's push.
inline constexpr std::chrono::seconds call_deadline{10}, push_deadline{4};

struct net_roles {
  service<ledger> items;
  service<worker> workers;
  service<reader> readers;
  service<producer> producers;
  service<guest> guests;
};

/// Serves them in this system, so many replicas of each. `version` is the newest that was
/// published before.
task<net_roles> serve_net_roles(system& sys, std::size_t replicas, std::int64_t version);

/// The services with replicas on nodes.
inline constexpr std::size_t services_on_nodes = 4;

}  // namespace troupe::chaos
