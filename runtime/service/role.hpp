#pragma once
// A role in its replica: an object of any class, held by its concrete type and reached through it.

#include <concepts>
#include <functional>
#include <memory>
#include <utility>

#include "runtime/coroutine/task.hpp"

namespace troupe {

/// Which replica a role is made for. A role whose constructor takes one first is given it, before
/// the arguments of `serve`: to draw from a random stream of its own, say.
struct replica_info {
  std::size_t index = 0;       ///< Below the number of replicas; kept across restarts.
  std::size_t generation = 0;  ///< 0, then one more with each restart.
};

namespace detail {

/// Holds one role, whatever its class.
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

/// The way from a box to the Role in it, where Role is the concrete class or a base of it.
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
  explicit base_access(std::shared_ptr<const role_access<Derived>> derived)
      : derived_(std::move(derived)) {}
  Base& of(role_box& box) const override { return derived_->of(box); }

 private:
  std::shared_ptr<const role_access<Derived>> derived_;
};

/// How a replica makes its role, and what it does before it serves.
struct role_factory {
  std::function<std::unique_ptr<role_box>(const replica_info&)> make;
  std::function<task<>(role_box&)> catch_up;  ///< May be null.
};

}  // namespace detail
}  // namespace troupe
