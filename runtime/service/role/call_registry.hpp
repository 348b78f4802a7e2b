#pragma once
// The kinds of calls, the ways to make roles and the casts from a role to its bases. Each is
// registered before main if the program names it anywhere.
//
// Other processes know a call, a constructor or an endpoint by its key, a hash of the compiler's
// spelling of it. The key is the same in every process of one build, even in those of different
// programs. Only types in anonymous namespaces of several files can have the same spelling. Then
// the one that is registered first has the key, and each further one the next free number, which is
// the same in every process of one program. Internal to runtime/.

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

/// The call of one endpoint on a handle of one role.
struct call_kind {
  std::string name;        ///< Role and function, as in "counter::add".
  std::string signature;   ///< The full signature, as the compiler writes it.
  std::type_index handle;  ///< The role of the handle.
  /// The name of the type that can't be encoded; empty if the call can be sent to another process.
  std::string not_encodable;
  /// Reads a call with its arguments. `access` leads to the handle's role; it is null if the call
  /// is forwarded to another process. Throws wire_error.
  ref<call_base> (*read)(const void* access, wire_reader& from);

  std::uint64_t key = 0;  ///< Set by register_kind.
};

/// The class of a role and the types of its constructor's arguments.
struct role_constructor {
  std::string name;
  std::string signature;
  std::string not_encodable;
  /// Reads the arguments and makes a factory. Throws wire_error.
  std::shared_ptr<role_factory> (*read)(wire_reader& from);
  std::uint64_t key = 0;  ///< Set by register_kind.
};

/// The concrete role class of a service's replicas.
struct role_kind {
  std::string name;
  std::type_index type;
  /// Returns the access to the role, which the service holds.
  const void* (*direct)(service_state& service);
};

/// The roles from a role to one of its bases.
struct role_cast {
  std::type_index from, to;
  /// Returns the access to `to` from `access`, the access to `from`; the service holds both.
  const void* (*through)(service_state& service, const void* access);
};

const call_kind& register_kind(call_kind kind);
const role_constructor& register_kind(role_constructor constructor);
const role_cast& register_kind(role_cast cast);

/// These throw wire_error if this program has no such kind. `name` is the role's, for the message.
const call_kind& call_kind_of(std::uint64_t key);
const role_constructor& role_constructor_of(std::uint64_t key, const std::string& name);

/// Returns the access to the role `wanted`, the class of the service's replicas or a base of it;
/// null if the program uses no such cast.
const void* access_to(service_state& service, std::type_index wanted);
/// Returns the calls that the program makes on a role or its bases.
std::vector<const call_kind*> calls_on(const role_kind& role);

}  // namespace troupe::detail
