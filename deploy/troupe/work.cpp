// The program behind the `troupe` command: does what its command line says.

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "deploy/troupe/command_line.hpp"
#include "runtime/log.hpp"
#include "runtime/process/process_site.hpp"

namespace troupe::command {

namespace {

int run(const command_line& line) {
  struct call {
    int operator()(const train_arguments& arguments) const { return train(arguments); }
    int operator()(const node_arguments& arguments) const { return node(arguments); }
    int operator()(const serve_env_arguments&) const { return refuse(); }
    int operator()(const chat_arguments&) const { return refuse(); }
    int operator()(const models_arguments&) const { return refuse(); }
    int operator()(const eval_arguments& arguments) const { return eval(arguments); }
    int operator()(const list_arguments& arguments) const { return list(arguments); }
    int operator()(const config_arguments& arguments) const { return config_schema(arguments); }
    int operator()(const samples_arguments& arguments) const { return samples(arguments); }
    int operator()(const health_arguments& arguments) const { return health(arguments); }
    int operator()(const certs_arguments& arguments) const { return certs(arguments); }
    int operator()(const status_arguments& arguments) const { return status(arguments); }
    static int refuse() {
      throw std::logic_error("this command has a program of its own, see main.cpp");
    }
  };
  log::set_level(line.log_level);
  try {
    return std::visit(call{}, line.command);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "troupe: %s\n", e.what());
    return 1;
  }
}

}  // namespace

}  // namespace troupe::command

int main(int argc, char** argv) {
  troupe::detail::serve_parent_if_child();
  const auto read = troupe::command::read_command_line(argc, argv);
  const int* wrong = std::get_if<int>(&read);
  const int code = wrong ? *wrong : troupe::command::run(std::get<0>(read));
  // All that was begun has ended by now. What is left is libtorch taking its operators out of its
  // tables, one by one, for 0.1 s, in memory that is gone in a moment.
  std::fflush(nullptr);
  std::_Exit(code);
}
