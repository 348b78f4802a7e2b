#include "runtime/system/host_roles.hpp"

#include <cerrno>
#include <cstdio>

#include "runtime/system/child_process.hpp"

namespace troupe {

int host_roles(const std::vector<role_to_host>& roles) {
  detail::serve_parent_if_child();
  std::fprintf(stderr, "%s: only other programs start it, to run these roles for them:\n",
               program_invocation_short_name);
  for (const auto& role : roles) std::fprintf(stderr, "  %s\n", role.constructor->name.c_str());
  return 2;
}

}  // namespace troupe
