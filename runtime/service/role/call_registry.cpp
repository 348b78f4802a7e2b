#include "runtime/service/role/call_registry.hpp"

#include <deque>
#include <set>

#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

namespace {

// Written before main on one thread. The containers don't move their elements.
struct registries {
  std::deque<endpoint_info> endpoints;
  std::deque<call_kind> calls;
  std::deque<role_constructor> constructors;
  std::deque<role_cast> casts;
};

registries& known() {
  static registries all;
  return all;
}

/// FNV-1a.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

template <class Kind>
const Kind& add(std::deque<Kind>& to, Kind kind) {
  kind.number = static_cast<std::uint32_t>(to.size());
  kind.hash = hash_of(kind.signature);
  return to.emplace_back(std::move(kind));
}

template <class Kind>
const Kind& find(const std::deque<Kind>& in, const char* what, std::uint32_t number,
                 std::uint32_t hash) {
  if (number < in.size() && in[number].hash == hash) return in[number];
  throw wire_error(std::string(what) + " " + std::to_string(number) +
                   ": this build knows none, or another");
}

/// Calls `visit` once for each access with its type, until it returns true.
template <class Visit>
void visit_bases(std::type_index from, const void* access, service_state* service, Visit visit) {
  std::set<std::type_index> seen{from};
  std::deque<std::pair<std::type_index, const void*>> open{{from, access}};
  while (!open.empty()) {
    const auto [type, way] = open.front();
    open.pop_front();
    if (visit(type, way)) return;
    for (const auto& cast : known().casts) {
      if (cast.from != type || !seen.insert(cast.to).second) continue;
      open.emplace_back(cast.to, service ? cast.through(*service, way) : nullptr);
    }
  }
}

}  // namespace

const endpoint_info* register_endpoint(std::string_view name, endpoint_kind kind) {
  auto& endpoints = known().endpoints;
  return &endpoints.emplace_back(endpoint_info{name, kind, endpoints.size()});
}

const endpoint_info& endpoint_of_number(std::size_t number) {
  if (number < known().endpoints.size()) return known().endpoints[number];
  throw wire_error("endpoint " + std::to_string(number) + ": this build knows none");
}

const call_kind& register_kind(call_kind kind) { return add(known().calls, std::move(kind)); }
const role_constructor& register_kind(role_constructor constructor) {
  return add(known().constructors, std::move(constructor));
}
const role_cast& register_kind(role_cast cast) { return known().casts.emplace_back(cast); }

const call_kind& call_kind_of(std::uint32_t number, std::uint32_t hash) {
  return find(known().calls, "endpoint", number, hash);
}
const role_constructor& role_constructor_of(std::uint32_t number, std::uint32_t hash) {
  return find(known().constructors, "role", number, hash);
}

const void* access_to(service_state& service, std::type_index wanted) {
  if (!service.role) return nullptr;
  const void* found = nullptr;
  visit_bases(service.role->type, service.role->direct(service), &service,
              [&](std::type_index type, const void* way) {
                if (type == wanted) found = way;
                return found != nullptr;
              });
  return found;
}

std::vector<const call_kind*> calls_on(const role_kind& role) {
  std::vector<const call_kind*> calls;
  visit_bases(role.type, nullptr, nullptr, [&](std::type_index type, const void*) {
    for (const auto& kind : known().calls) {
      if (kind.handle == type) calls.push_back(&kind);
    }
    return false;
  });
  return calls;
}

}  // namespace troupe::detail
