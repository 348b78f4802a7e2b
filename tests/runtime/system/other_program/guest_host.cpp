// A program that hosts the role of guest.hpp for the tests.

#include "runtime/system/host_roles.hpp"
#include "tests/runtime/system/other_program/guest.hpp"

int main() {
  using troupe::testing::guest;
  [[maybe_unused]] const guest::function known = troupe::testing::times{1};
  return troupe::host_roles({troupe::role_made_from<guest, int, guest::function>::with<
      &guest::add, &guest::pid, &guest::program, &guest::mirror>()});
}
