#include "actors/sandbox/check_sandbox.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <fstream>
#include <future>

#include "actors/sandbox/sandbox.hpp"
#include "runtime/base/installed.hpp"
#include "runtime/net/io_thread.hpp"

namespace troupe {

namespace {

constexpr auto trial_within = std::chrono::seconds(15);

/// The first line of a file; empty if there is none.
std::string line_of(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

sandbox_check bubblewrap() {
  const auto program = detail::find_program("bwrap");
  if (program.empty())
    return {"bubblewrap", false, true, "bwrap is not on PATH: apt-get install bubblewrap"};
  return {"bubblewrap", true, true, program.string()};
}

sandbox_check interpreter() {
  const sandbox_options options;
  if (::access(options.python.c_str(), X_OK) != 0)
    return {"Python", false, true,
            options.python + " can't be executed: apt-get install python3-minimal"};
  return {"Python", true, true, options.python};
}

/// The settings of the kernel that forbid user namespaces.
sandbox_check user_namespaces() {
  const auto is_off = [](const char* path, const char* value) { return line_of(path) == value; };
  std::string missing;
  if (is_off("/proc/sys/user/max_user_namespaces", "0"))
    missing = "sysctl user.max_user_namespaces is 0: set it to 10000";
  else if (is_off("/proc/sys/kernel/unprivileged_userns_clone", "0"))
    missing = "sysctl kernel.unprivileged_userns_clone is 0: set it to 1";
  else if (is_off("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") &&
           line_of("/etc/apparmor.d/bwrap-userns-restrict").empty())
    missing =
        "sysctl kernel.apparmor_restrict_unprivileged_userns is 1, and there is no AppArmor "
        "profile "
        "that lets bwrap make user namespaces: set it to 0, or install such a profile";
  return {"user namespaces", missing.empty(), true, missing.empty() ? "allowed" : missing};
}

/// Runs a program in a sandbox. Returns how long it took, or throws what went wrong.
double trial() {
  const sandbox_maker maker({.limits = {.wall_s = 10}}, {});
  std::promise<outcome<code_result>> promise;
  auto ended = promise.get_future();
  const auto began = std::chrono::steady_clock::now();
  {
    detail::io_thread thread("troupe-trial");
    boost::asio::post(thread.context(), [&] {
      try {
        sandbox::start(thread, maker, {"/usr/bin/true"})->run({}, [&](outcome<code_result> got) {
          promise.set_value(std::move(got));
        });
      } catch (...) {
        promise.set_value(std::current_exception());
      }
    });
    if (ended.wait_for(trial_within) != std::future_status::ready)
      throw std::runtime_error("a program in it did not end");
  }
  const auto result = ended.get().value();
  if (!result.succeeded())
    throw std::runtime_error(fmt::format("`true` ended with exit code {}, signal {}: {}",
                                         result.exit_code, result.signal, result.errors));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
      .count();
}

/// The remedy for what bwrap, or the start of it, has said.
std::string remedy_for(const std::string& error) {
  const auto has = [&](const char* text) { return error.find(text) != std::string::npos; };
  if (has("--disable-userns") || has("Unknown option"))
    return "bubblewrap is too old: 0.8 or later is needed";
  if (has("mount proc"))
    return "this container hides parts of /proc: start it with docker run --security-opt "
           "systempaths=unconfined, or with procMount: Unmasked in Kubernetes";
  if (has("Operation not permitted") || has("Permission denied") || has("No permissions"))
    return "this process may not make namespaces: start a container with docker run --security-opt "
           "seccomp=unconfined --security-opt apparmor=unconfined --security-opt "
           "systempaths=unconfined, or see docs/operations/security.md for narrower options";
  return "see docs/operations/security.md";
}

sandbox_check a_run() {
  try {
    return {"a program in a sandbox", true, true, fmt::format("ran in {:.0f} ms", trial())};
  } catch (const std::exception& e) {
    const std::string error = e.what();
    return {"a program in a sandbox", false, true, error + ": " + remedy_for(error)};
  }
}

sandbox_check user() {
  return {"user of the programs", true, false,
          ::geteuid() == 0 ? "one of its own for each service, as this user is root"
                           : "this user, in a user namespace"};
}

sandbox_check control_group_check() {
  std::string found;
  const bool is_met = control_groups::find(found).has_value();
  return {"control groups", is_met, false,
          (is_met ? "limit the memory of all processes of a run together, below "
                  : "none, so that processes have equal parts of the memory: ") +
              found};
}

}  // namespace

std::vector<sandbox_check> check_sandbox() {
  std::vector<sandbox_check> checks;
  for (auto* const check : {bubblewrap, interpreter, user_namespaces, a_run}) {
    checks.push_back(check());
    // What follows would fail for the same reason.
    if (!checks.back().is_met) return checks;
  }
  checks.push_back(user());
  checks.push_back(control_group_check());
  return checks;
}

void require_sandbox() {
  for (const auto& check : check_sandbox())
    if (check.is_needed && !check.is_met)
      throw sandbox_unavailable("this machine can't make a sandbox: " + check.what + ": " +
                                check.found);
}

}  // namespace troupe
