#include "actors/coder/coder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <stdexcept>
#include <system_error>

#include "actors/coder/limited_process.hpp"
#include "actors/coder/scratch_folder.hpp"
#include "actors/sandbox/program_user.hpp"
#include "runtime/process/memory_file.hpp"

namespace troupe {

namespace {

constexpr std::size_t program_bytes_max = (128 << 10) - 1;
constexpr std::uint32_t no_user = ~std::uint32_t{0};  // the kernel's value for no user

/// The interpreter's argument, which every user can read. It reads the program from a descriptor,
/// which is closed before the program runs.
const std::string runner = "exec(compile(open(" + std::to_string(limited_program::program_number) +
                           ", encoding='utf-8').read(), '<string>', 'exec'))";

void check(const coder_options& options) {
  if (!options.allow_unsandboxed)
    throw std::invalid_argument(
        "coder: expected allow_unsandboxed, as it runs what a model has written with limits but "
        "without a sandbox: it can read and write this user's files and reach the network");
  const auto& l = options.limits;
  if (!(l.wall_s > 0) || !std::isfinite(l.wall_s) || l.cpu_s < 1 || l.memory_bytes < 1 ||
      l.open_files < 8 || l.output_bytes < 1 || l.written_bytes < 0 || l.files < 0 ||
      l.processes < 1)
    throw std::invalid_argument(fmt::format(
        "coder: expected limits above 0, and 8 open files or more, got wall_s {}, cpu_s {}, "
        "memory_bytes {}, open_files {}, output_bytes {}, written_bytes {}, files {}, processes {}",
        l.wall_s, l.cpu_s, l.memory_bytes, l.open_files, l.output_bytes, l.written_bytes, l.files,
        l.processes));
  if (options.first_user < 1000 || options.last_user <= options.first_user ||
      options.last_user == no_user)
    throw std::invalid_argument(
        "coder: expected users from 1000 to 4294967294, and two or more of them, got first_user " +
        std::to_string(options.first_user) + ", last_user " + std::to_string(options.last_user));
  if (l.processes > 1 && ::geteuid() != 0)
    throw std::invalid_argument(
        "coder: expected 1 process where this process is not root's, as its programs then have no "
        "user of their own, whose processes could be counted and killed; got processes " +
        std::to_string(l.processes));
  if (::access(options.python.c_str(), X_OK) != 0)
    throw std::system_error(errno, std::generic_category(),
                            "coder: expected a Python interpreter at " + options.python);
}

}  // namespace

coder::coder(coder_options options, metrics_registry* metrics)
    : options_(std::move(options)), ends_(metrics) {
  check(options_);
  if (::geteuid() == 0)
    user_ = std::make_unique<program_user>(options_.first_user, options_.last_user);
}

coder::~coder() = default;

code_result coder::run(code_request asked) {
  if (asked.program.size() > program_bytes_max || asked.program.find('\0') != std::string::npos)
    throw std::invalid_argument("coder: expected a program of at most " +
                                std::to_string(program_bytes_max) + " bytes, none of them 0, got " +
                                std::to_string(asked.program.size()));
  if (!asked.files.empty() || !asked.results.empty())
    throw std::invalid_argument("coder: expected a program without files; only a sandbox has them");
  scratch_folder folder(user_.get());
  const auto program = detail::memory_file(asked.program, "make a program's text");
  const auto input = detail::memory_file(asked.input, "make a program's input");
  // Python runs in isolated mode and without packages that are installed on this machine.
  auto result = run_limited({.command = {options_.python, "-I", "-S", "-B", "-c", runner},
                             .program = program.number(),
                             .input = input.number(),
                             .folder = folder.path(),
                             .limits = options_.limits,
                             .user = user_.get()});
  const auto left = folder.remove();
  if (result.limit == code_limit::none && left.entries > options_.limits.files)
    result.limit = code_limit::files;
  if (result.limit == code_limit::none && left.bytes > options_.limits.written_bytes)
    result.limit = code_limit::written_bytes;
  ends_.count(result);
  return result;
}

}  // namespace troupe
