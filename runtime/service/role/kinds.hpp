#pragma once
// What every process of one build knows under the same number: kinds of calls, ways to make roles,
// and ways from a role to its bases. Each is registered before main, where the program names it
// first. Internal to runtime/.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <typeindex>
#include <vector>

#include "runtime/actor/ref.hpp"
#include "runtime/wire/codec.hpp"

namespace troupe::detail {

class call_base;
class service_state;
struct role_factory;

/// A call of one endpoint on a handle of one role.
struct call_kind {
  std::string name;           ///< "counter::add"
  std::string signature;      ///< In full, as the compiler writes it.
  std::type_index handle;     ///< The handle's role.
  std::string not_encodable;  ///< The type that keeps it in its process; empty if none does.
  /// The call with the arguments that were written; `access` is the way to the handle's role, null
  /// where the call is passed on to another process.
  /// Throws wire_error.
  ref<call_base> (*read)(const void* access, wire_reader& from);

  // Set by register_kind.
  std::uint32_t number = 0;
  std::uint32_t hash = 0;  ///< Of the signature: tells builds apart.
};

/// A role and its constructor's arguments.
struct role_recipe {
  std::string name;
  std::string signature;
  std::string not_encodable;
  /// Throws wire_error.
  std::shared_ptr<role_factory> (*read)(wire_reader& from);
  std::uint32_t number = 0;
  std::uint32_t hash = 0;
};

/// A concrete role, as a service's replicas hold it.
struct role_kind {
  std::string name;
  std::type_index type;
  /// The way to it, held by the service.
  const void* (*direct)(service_state& service);
};

/// The way from a role to a base.
struct role_cast {
  std::type_index from, to;
  /// Given the way to `from`, held by the service.
  const void* (*through)(service_state& service, const void* access);
};

const call_kind& register_kind(call_kind kind);
const role_recipe& register_kind(role_recipe recipe);
const role_cast& register_kind(role_cast cast);

/// Throw wire_error if there is none, or another.
const call_kind& call_kind_of(std::uint32_t number, std::uint32_t hash);
const role_recipe& role_recipe_of(std::uint32_t number, std::uint32_t hash);

/// The way to the role `wanted`, which is that of the service's replicas or a base of it; null if
/// there is none that the program uses.
const void* access_to(service_state& service, std::type_index wanted);
/// Calls that the program makes on a role or its bases.
std::vector<const call_kind*> calls_on(const role_kind& role);

}  // namespace troupe::detail
