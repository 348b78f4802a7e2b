// The program env-host, which `troupe` starts for the environments of env.placement=process. It
// does not link libtorch, so that many processes of it start at once and take little memory.

#include "actors/worlds/environment_host.hpp"

int main() { return troupe::host_roles({troupe::role_of_environment_host()}); }
