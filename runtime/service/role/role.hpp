#pragma once
// The object that a replica runs: a role of any class, held by its concrete type and accessed as
// that type or a base of it. Internal to runtime/.

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "runtime/coroutine/task.hpp"
#include "runtime/service/options/replica_info.hpp"
#include "runtime/service/role/call_registry.hpp"

namespace troupe {

namespace detail {

/// Holds one role of any class.
class role_box {
 public:
  virtual ~role_box() = default;
};

template <class Role>
class box_of final : public role_box {
 public:
  template <class... A>
  explicit box_of(A&&... args) : role(std::forward<A>(args)...) {}
  Role role;
};

/// Gives the Role in a box, where Role is the concrete class or a base of it. The service's state
/// holds it for all handles and calls.
template <class Role>
class role_access {
 public:
  virtual ~role_access() = default;
  virtual Role& of(role_box& box) const = 0;
};

template <class Role>
class direct_access final : public role_access<Role> {
 public:
  Role& of(role_box& box) const override { return static_cast<box_of<Role>&>(box).role; }
};

template <class Base, std::derived_from<Base> Derived>
class base_access final : public role_access<Base> {
 public:
  explicit base_access(const role_access<Derived>& derived) : derived_(derived) {}
  Base& of(role_box& box) const override { return derived_.of(box); }

 private:
  const role_access<Derived>& derived_;
};

/// The functions with which a replica makes its role and prepares to serve.
struct role_factory {
  std::function<std::unique_ptr<role_box>(const replica_info&)> make;
  std::function<task<>(role_box&)> catch_up;  ///< Runs before the replica serves; may be null.
  /// Returns the role's version; may be null.
  std::function<std::int64_t(const role_box&)> version_of;

  // These make the role in another process.
  const role_kind* role = nullptr;
  const role_constructor* constructor = nullptr;
  std::function<std::size_t()> arguments_size;
  std::function<void(wire_writer&)> write_arguments;
};

}  // namespace detail
}  // namespace troupe
