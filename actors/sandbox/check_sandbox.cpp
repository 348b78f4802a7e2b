#include "actors/sandbox/check_sandbox.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <fstream>
#include <future>

#include "actors/sandbox/python_runners.hpp"
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

/// Runs a program in a sandbox. Returns how long it took, in milliseconds, or throws what went
/// wrong.
double trial() {
  const sandbox_options options{.limits = {.wall_s = 10}};
  const sandbox_maker maker(options, python_command(options.python, one_program));
  std::promise<outcome<code_result>> promise;
  auto ended = promise.get_future();
  const auto began = std::chrono::steady_clock::now();
  {
    detail::io_thread thread("troupe-trial");
    boost::asio::post(thread.context(), [&] {
      try {
        sandbox::start(thread, maker)
            ->run({.program = "print(6 * 7)"},
                  [&](outcome<code_result> got) { promise.set_value(std::move(got)); });
      } catch (...) {
        promise.set_value(std::current_exception());
      }
    });
    if (ended.wait_for(trial_within) != std::future_status::ready)
      throw std::runtime_error("a program in it did not end");
  }
  const auto result = ended.get().value();
  if (!result.succeeded() || result.output != "42\n")
    throw std::runtime_error(
        fmt::format("`print(6 * 7)` ended with exit code {}, signal {} and the output \"{}\": {}",
                    result.exit_code, result.signal, result.output, result.errors));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
      .count();
}

/// The remedy for what bwrap, or the start of it, has said.
std::string remedy_for(const std::string& error) {
  const auto has = [&](const char* text) { return error.find(text) != std::string::npos; };
  if (has("--disable-userns") || has("Unknown option"))
    return "bubblewrap is too old: 0.8 or later is needed";
  if (has("mount proc") || has("mount /proc"))
    return "this container hides parts of /proc: start it with docker run --security-opt "
           "systempaths=unconfined, or with procMount: Unmasked in Kubernetes";
  if (has("/run/troupe-users"))
    return "as root, Troupe keeps the numbers of its programs' users there: mount /run so that "
           "root can "
           "write to it";
  if (has("give it its folders") || has("change its group") || has("change its user") ||
      has("leave its groups"))
    return "as root, Troupe runs programs as users from 61184 on, which this user namespace does "
           "not "
           "have, or which this process may not become: give it such numbers and the capabilities "
           "CHOWN, SETUID and SETGID, or run it as an ordinary user";
  const bool starts_nothing = has("cannot start a child: Operation not permitted") ||
                              has("creating new namespace") || has("No permissions");
  if (starts_nothing && ::geteuid() == 0)
    return "root needs the capability SYS_ADMIN to make mount namespaces; an ordinary user needs "
           "none";
  if (starts_nothing)
    return "this process may not make namespaces: start a container with docker run --security-opt "
           "seccomp=FILE --security-opt apparmor=unconfined --security-opt systempaths=unconfined, "
           "where FILE is deploy/sandbox/seccomp.json of Troupe's sources, or unconfined";
  return "docs/guides/sandbox.md has what a machine and a container need";
}

/// A text on one line.
std::string on_one_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

sandbox_check a_run() {
  try {
    return {"a program in a sandbox", true, true, fmt::format("ran in {:.0f} ms", trial())};
  } catch (const std::exception& e) {
    const auto error = on_one_line(e.what());
    return {"a program in a sandbox", false, true, error + ". " + remedy_for(error)};
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
  for (auto* const check : {bubblewrap, interpreter, user_namespaces}) checks.push_back(check());
  const bool can_run = std::ranges::all_of(checks, &sandbox_check::is_met);
  checks.push_back(can_run ? a_run()
                           : sandbox_check{"a program in a sandbox", false, true,
                                           "not tried, as something above is missing"});
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
