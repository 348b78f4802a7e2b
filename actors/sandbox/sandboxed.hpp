#pragma once
// Roles that run what is not trusted, each run in a sandbox of its own: sandboxed_python for Python
// programs, sandboxed_command for any. sandboxed_notebook.hpp has one for cells that share
// variables.

#include <memory>

#include "actors/sandbox/code_result.hpp"
#include "actors/sandbox/sandbox_options.hpp"
#include "runtime/coroutine/task.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

class sandbox_service;

/// Runs Python programs in sandboxes. A program sees a read-only /usr, an empty folder /tmp, which
/// is its working directory, and the files of its request there. It has no network, no environment
/// variable of this process, no other process of this machine, no rights, and the limits of the
/// options. Nothing of a run is left when its call returns; a run whose caller has gone is killed,
/// and so are all runs if this process is killed. docs/guides/sandbox.md says what a sandbox can't
/// do.
///
/// Interpreters are started ahead, each in a sandbox of its own that serves for one run. A program
/// is the first process of its sandbox, so signals without a handler don't end it from inside.
///
/// A call does not block its thread. One replica carries out as many runs at once as `parallel`
/// says, and the others wait.
class sandboxed_python {
 public:
  /// Throws what sandbox_maker's constructor throws. If `metrics` is not null,
  /// troupe_code_runs_total{end} counts runs by how they ended.
  explicit sandboxed_python(sandbox_options options = {}, metrics_registry* metrics = nullptr);
  ~sandboxed_python();

  /// Runs a program. Throws std::invalid_argument for a program that is too long and for wrong
  /// names of files, and std::runtime_error if the sandbox itself fails.
  task<code_result> run(code_request asked);

 private:
  std::unique_ptr<sandbox_service> service_;
};

/// Runs commands in sandboxes like those of sandboxed_python. None is started ahead.
class sandboxed_command {
 public:
  /// Like sandboxed_python's.
  explicit sandboxed_command(sandbox_options options = {}, metrics_registry* metrics = nullptr);
  ~sandboxed_command();

  /// Runs a command, whose first word is looked for in /usr/bin. Throws std::invalid_argument for
  /// an empty command and for wrong names of files, and std::runtime_error if the sandbox itself
  /// fails. A command that can't be executed exits with code 126 or 127, and `errors` says why.
  task<code_result> run(command_request asked);

 private:
  std::unique_ptr<sandbox_service> service_;
};

}  // namespace troupe
