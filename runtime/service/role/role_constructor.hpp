#pragma once
// Makes role factories from a role's class and constructor arguments, for replicas in this or
// another process, and registers the accesses from a replica's role to the role or base of a
// handle. Internal to runtime/.

#include <tuple>

#include "runtime/service/role/role.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

template <class Role>
const role_access<Role>* keep_direct_access(service_state& service) {
  return service.template keep<role_access<Role>>(
      typeid(Role), nullptr, [] { return std::make_shared<direct_access<Role>>(); });
}

template <class Base, class Derived>
const role_access<Base>* keep_base_access(service_state& service,
                                          const role_access<Derived>& derived) {
  return service.template keep<role_access<Base>>(typeid(Base), &derived, [&] {
    return std::make_shared<base_access<Base, Derived>>(derived);
  });
}

template <class Base, class Derived>
inline const role_cast& cast_to_base = register_kind(role_cast{
    .from = typeid(Derived),
    .to = typeid(Base),
    .through = [](service_state& service, const void* derived) -> const void* {
      return keep_base_access<Base>(service, *static_cast<const role_access<Derived>*>(derived));
    }});

template <class Role>
inline const role_kind role_kind_of{
    .name = std::string(type_name<Role>()),
    .type = typeid(Role),
    .direct = [](service_state& s) -> const void* { return keep_direct_access<Role>(s); }};

template <class Role, class... A>
std::shared_ptr<role_factory> make_factory(std::tuple<A...> arguments);

template <class Role, class... A>
std::shared_ptr<role_factory> read_factory(wire_reader& from) {
  if constexpr (encodable<std::tuple<A...>>) {
    return make_factory<Role>(from.read<std::tuple<A...>>());
  } else {
    throw std::logic_error("a role that can't be encoded was read");
  }
}

template <class Role, class... A>
const role_constructor& add_constructor() {
  role_constructor constructor{.name = std::string(type_name<Role>()),
                               .signature = __PRETTY_FUNCTION__,
                               .not_encodable = "",
                               .read = &read_factory<Role, A...>};
  if constexpr (!encodable<std::tuple<A...>>)
    constructor.not_encodable = not_encodable<std::tuple<A...>>();
  return register_kind(std::move(constructor));
}

template <class Role, class... A>
inline const role_constructor& constructor_of = add_constructor<Role, A...>();

/// Makes the factory of a replica's role: Role(info, arguments...) if Role has such a constructor,
/// else Role(arguments...).
template <class Role, class... A>
std::shared_ptr<role_factory> make_factory(std::tuple<A...> arguments) {
  auto factory = std::make_shared<role_factory>();
  const auto kept = std::make_shared<const std::tuple<A...>>(std::move(arguments));
  factory->make = [kept](const replica_info& info) -> std::unique_ptr<role_box> {
    return std::apply(
        [&](const auto&... each) {
          if constexpr (std::constructible_from<Role, const replica_info&, const A&...>) {
            return std::make_unique<box_of<Role>>(info, each...);
          } else {
            return std::make_unique<box_of<Role>>(each...);
          }
        },
        *kept);
  };
  if constexpr (requires(Role role) {
                  { role.catch_up() } -> std::same_as<task<>>;
                }) {
    factory->catch_up = [](role_box& box) {
      return static_cast<box_of<Role>&>(box).role.catch_up();
    };
  }
  if constexpr (requires(const Role role) {
                  { role.version() } -> std::same_as<std::int64_t>;
                }) {
    factory->version_of = [](const role_box& box) {
      return static_cast<const box_of<Role>&>(box).role.version();
    };
  }
  factory->role = &role_kind_of<Role>;
  factory->constructor = &constructor_of<Role, A...>;
  if constexpr (encodable<std::tuple<A...>>) {
    factory->arguments_size = [kept] { return wire_size(*kept); };
    factory->write_arguments = [kept](wire_writer& to) { to.write(*kept); };
  }
  return factory;
}

}  // namespace troupe::detail
