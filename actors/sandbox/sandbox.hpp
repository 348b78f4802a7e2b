#pragma once
// Internal to sandbox/: the sandbox of one run, made by bubblewrap.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/sandbox/code_result.hpp"
#include "actors/sandbox/control_group.hpp"
#include "actors/sandbox/sandbox_options.hpp"
#include "runtime/base/descriptor.hpp"
#include "runtime/base/outcome.hpp"

namespace troupe {

class program_user;
namespace detail {
class io_thread;
}

/// What all sandboxes of a service share. It must outlive them.
class sandbox_maker {
 public:
  /// Checks the options. `command` is what each sandbox runs; empty means that each run has its
  /// own. Throws std::invalid_argument for options that are wrong, sandbox_unavailable if this
  /// machine can't make a sandbox, and std::system_error.
  sandbox_maker(sandbox_options options, std::vector<std::string> command);
  ~sandbox_maker();

  const sandbox_options& options() const { return options_; }

 private:
  friend class sandbox;
  sandbox_options options_;
  std::unique_ptr<program_user> user_;  // null if this process is not root's
  std::vector<std::string> words_;      // the command line of bwrap up to that of the program
  std::vector<std::string> own_command_;
  std::string space_options_;  // those of the mount that holds a run's files
  std::string uid_map_, gid_map_;
  detail::descriptor filter_;
  std::optional<control_groups> groups_;  // none where they are not delegated to this process
};

/// The number of runs at the same time.
std::size_t runs_at_once(const sandbox_options& options);

/// What goes into a run.
struct sandbox_input {
  std::string program;  ///< read by the command from descriptor 5
  std::string input;    ///< the standard input
  std::map<std::string, std::string> files;
  std::vector<std::string> results;
};

/// A sandbox, which waits with all that it needs until it gets its input. The thread's handlers are
/// the only ones that use it. The kernel kills all of it if this process, or the thread, ends.
class sandbox : public std::enable_shared_from_this<sandbox> {
 public:
  /// The result of a run, or a std::runtime_error if the sandbox itself has failed.
  using told = std::function<void(outcome<code_result>)>;

  /// Starts a sandbox. If `own_command` is not empty it replaces the maker's. Throws
  /// std::system_error.
  static std::shared_ptr<sandbox> start(detail::io_thread& thread, const sandbox_maker& maker,
                                        const std::vector<std::string>& own_command = {});
  ~sandbox();

  /// Starts the run, once. Its wall time begins now. `tell` is called once nothing of the sandbox
  /// is left. Throws std::invalid_argument for files that have no valid names or are too many, and
  /// std::system_error; the sandbox is then killed.
  void run(sandbox_input input, told tell);
  /// Runs a cell of a notebook, one at a time. The sandbox stays, unless a limit ends it. Throws
  /// what `run` throws, and std::runtime_error if it has ended.
  void run_cell(sandbox_input input, told tell);
  /// True if it can run nothing more.
  bool has_ended() const;
  /// Kills all of it, at once.
  void kill();
  /// Called with what it wrote to its standard error, if the sandbox ends while it runs nothing.
  std::function<void(const std::string& errors)> ended_early;

 private:
  struct stream;
  struct parts;
  explicit sandbox(std::unique_ptr<parts> p);
  void read(stream& from);
  void begin(std::vector<std::string> results, told tell);
  void note_ready();
  void note_cell();
  void end_for(code_limit limit);
  void reap();
  void tell_end();
  code_result result();
  void finish(code_result& got);

  const std::unique_ptr<parts> parts_;
};

}  // namespace troupe
