// The code of docs/guides/sandbox.md that is in no example.

#include "runtime/system/run.hpp"

// readme: python
#include "actors/sandbox/sandboxed.hpp"

troupe::task<std::string> count_words(troupe::system& sys, std::string text) {
  const troupe::sandbox_options options{.limits = {.wall_s = 2, .memory_bytes = 256 << 20}};
  auto coders = co_await sys.serve<troupe::sandboxed_python>({.name = "coder"}, options);
  const auto ran = co_await coders.route<&troupe::sandboxed_python::run>(troupe::code_request{
      .program = "print(len(open('text').read().split()))", .files = {{"text", std::move(text)}}});
  if (ran.succeeded()) co_return ran.output;
  co_return "failed: " + std::string(name_of(ran.limit)) + ran.errors;
}
// readme: end

// readme: command
troupe::task<bool> compiles(troupe::service<troupe::sandboxed_command> commands, std::string code) {
  const auto ran = co_await commands.route<&troupe::sandboxed_command::run>(
      troupe::command_request{.command = {"python3", "-m", "py_compile", "answer.py"},
                              .files = {{"answer.py", std::move(code)}}});
  co_return ran.succeeded();
}
// readme: end

// readme: notebook
#include "actors/sandbox/sandboxed_notebook.hpp"

troupe::task<std::string> six_times_seven(troupe::service<troupe::sandboxed_notebook> notebooks) {
  using notebook = troupe::sandboxed_notebook;
  const auto mine = co_await notebooks.route<&notebook::open>();
  for (const char* cell : {"x = 6", "x *= 7"}) {
    const auto ran = co_await notebooks.route<&notebook::run>(
        troupe::notebook_cell{.notebook = mine, .code = {.program = cell}});
    if (!ran.succeeded()) co_return ran.errors;
  }
  const auto last = co_await notebooks.route<&notebook::run>(
      troupe::notebook_cell{.notebook = mine, .code = {.program = "print(x)"}});
  co_await notebooks.route<&notebook::close>(mine);
  co_return last.output;
}
// readme: end
