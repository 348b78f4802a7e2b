#include "runtime/service/role/call_registry.hpp"

#include <deque>
#include <set>
#include <unordered_map>

#include "runtime/base/text_hash.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

namespace {

/// What is known by a key. The elements don't move.
template <class Kind>
class keyed {
 public:
  const Kind& add(Kind kind, std::string_view spelling) {
    kind.key = text_hash(spelling);
    while (by_key_.contains(kind.key)) ++kind.key;
    const auto& added = all_.emplace_back(std::move(kind));
    by_key_.emplace(added.key, &added);
    return added;
  }
  /// Returns null if there is none.
  const Kind* find(std::uint64_t key) const {
    const auto at = by_key_.find(key);
    return at == by_key_.end() ? nullptr : at->second;
  }
  const std::deque<Kind>& all() const { return all_; }

 private:
  std::deque<Kind> all_;
  std::unordered_map<std::uint64_t, const Kind*> by_key_;
};

// Written before main on one thread.
struct registries {
  keyed<endpoint_info> endpoints;
  keyed<call_kind> calls;
  keyed<role_constructor> constructors;
  std::deque<role_cast> casts;
};

registries& known() {
  static registries all;
  return all;
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

const endpoint_info* register_endpoint(std::string_view name, endpoint_kind kind,
                                       std::string_view spelling) {
  auto& endpoints = known().endpoints;
  return &endpoints.add({.name = name, .kind = kind, .number = endpoints.all().size(), .key = 0},
                        spelling);
}

const endpoint_info& endpoint_of_key(std::uint64_t key) {
  if (const auto* found = known().endpoints.find(key)) return *found;
  throw wire_error("an endpoint that this program doesn't have");
}

const call_kind& register_kind(call_kind kind) {
  const auto spelling = kind.signature;
  return known().calls.add(std::move(kind), spelling);
}
const role_constructor& register_kind(role_constructor constructor) {
  const auto spelling = constructor.signature;
  return known().constructors.add(std::move(constructor), spelling);
}
const role_cast& register_kind(role_cast cast) { return known().casts.emplace_back(cast); }

const call_kind& call_kind_of(std::uint64_t key) {
  if (const auto* found = known().calls.find(key)) return *found;
  throw wire_error("a call of an endpoint that this program doesn't have");
}
const role_constructor& role_constructor_of(std::uint64_t key, const std::string& name) {
  if (const auto* found = known().constructors.find(key)) return *found;
  throw wire_error("this program doesn't have the role " + name +
                   ", or not with such constructor arguments");
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
    for (const auto& kind : known().calls.all()) {
      if (kind.handle == type) calls.push_back(&kind);
    }
    return false;
  });
  return calls;
}

}  // namespace troupe::detail
