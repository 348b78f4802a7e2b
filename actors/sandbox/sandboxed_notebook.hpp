#pragma once
// The role that runs Python programs piece by piece, as a notebook does, in sandboxes.

#include <cstdint>
#include <memory>

#include "actors/sandbox/code_result.hpp"
#include "actors/sandbox/sandbox_options.hpp"
#include "runtime/coroutine/task.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

class notebook_table;

/// A cell of a notebook.
struct notebook_cell {
  std::int64_t notebook = 0;  ///< what open() has returned
  code_request code = {};
};

/// Runs the cells of notebooks. The cells of a notebook share its variables and files; a notebook
/// has a sandbox of its own, like those of sandboxed_python. wall_s limits each cell, cpu_s all of
/// a notebook, and `parallel` the number of open notebooks. A limit that kills ends the notebook.
class sandboxed_notebook {
 public:
  /// Like sandboxed_python's. A notebook that has not been used for idle_s is closed.
  explicit sandboxed_notebook(sandbox_options options = {}, double idle_s = 600,
                              metrics_registry* metrics = nullptr);
  ~sandboxed_notebook();

  /// Opens a notebook. Throws std::runtime_error if there are as many as there may be.
  task<std::int64_t> open();
  /// Runs a cell; its standard input is `code.input`. A cell that raises has exit code 1, and
  /// `errors` has the traceback. Throws std::invalid_argument for a notebook that is not open, and
  /// what sandboxed_python::run throws.
  task<code_result> run(notebook_cell cell);
  /// Closes a notebook, and kills what runs in it. One that is not open is left alone.
  task<> close(std::int64_t notebook);

 private:
  const std::unique_ptr<notebook_table> table_;
};

}  // namespace troupe
