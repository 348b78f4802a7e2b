#include "actors/openenv/client/supervised_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <system_error>

#include "actors/openenv/client/io_thread.hpp"
#include "runtime/base/descriptor.hpp"
#include "runtime/process/memory_file.hpp"

namespace troupe::openenv {

namespace {

// The arguments are $0, the directory, $1, the cleanup, and then the command. Standard input is the
// pipe that this process holds. The shell closes its log, so that the log ends with the program.
constexpr const char* supervisor = R"sh(
cleanup=$1
shift
setsid sh -c 'cd "$0" && "$@"; echo "ended with exit code $?"' "$0" "$@" </dev/null &
group=$!
trap '' INT TERM HUP
exec >/dev/null 2>&1
while read -r ignored; do :; done
kill -TERM -"$group"
tries=0
while kill -0 -"$group" && [ $tries -lt 20 ]; do sleep 0.05; tries=$((tries + 1)); done
kill -KILL -"$group"
eval "$cleanup"
)sh";

struct ends {
  troupe::detail::descriptor read, write;
};

constexpr int file_number = 3;  // the descriptor of program::file_path

ends make_pipe() {
  int numbers[2];
  if (pipe2(numbers, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "openenv: cannot make a pipe");
  return {troupe::detail::descriptor(numbers[0]), troupe::detail::descriptor(numbers[1])};
}

/// The arguments of posix_spawn, which are freed at the end.
struct spawn_plan {
  spawn_plan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~spawn_plan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

}  // namespace

/// Reads the log and keeps its end.
class supervised_process::reader : public std::enable_shared_from_this<reader> {
 public:
  reader(io_thread& thread, troupe::detail::descriptor from)
      : from_(thread.context(), ::fcntl(from.number(), F_DUPFD_CLOEXEC, 0)) {}

  void start() {
    from_.async_read_some(
        boost::asio::buffer(block_),
        [self = shared_from_this()](boost::system::error_code error, std::size_t bytes) {
          self->take(bytes);
          if (error) {
            self->ended_ = true;
          } else {
            self->start();
          }
        });
  }
  void stop() { from_.close(); }

  bool ended() const { return ended_; }
  std::string log() const {
    std::lock_guard lock(mutex_);
    return log_;
  }

 private:
  void take(std::size_t bytes) {
    std::lock_guard lock(mutex_);
    log_.append(block_.data(), bytes);
    if (log_.size() <= log_bytes_max) return;
    const auto whole_line = log_.find('\n', log_.size() - log_bytes_max);
    log_.erase(0, whole_line == log_.npos ? log_.size() - log_bytes_max : whole_line + 1);
  }

  boost::asio::posix::stream_descriptor from_;
  std::array<char, 4096> block_;
  std::atomic<bool> ended_{false};
  mutable std::mutex mutex_;
  std::string log_;
};

supervised_process::supervised_process(std::shared_ptr<io_thread> thread, const program& what)
    : thread_(std::move(thread)) {
  auto life = make_pipe();
  auto log = make_pipe();
  troupe::detail::descriptor file;
  if (!what.file.empty())
    file = troupe::detail::memory_file(what.file, "make a program's file (openenv)");

  std::vector<std::string> words{"sh", "-c", supervisor,
                                 what.directory.empty() ? "." : what.directory, what.cleanup};
  words.insert(words.end(), what.command.begin(), what.command.end());
  std::vector<char*> arguments, environment;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  auto own = what.environment;
  // A program uses the first variable of a name, so its own variables come first.
  for (auto& variable : own) environment.push_back(variable.data());
  for (char** at = environ; *at; ++at) environment.push_back(*at);
  environment.push_back(nullptr);

  spawn_plan plan;
  posix_spawn_file_actions_adddup2(&plan.actions, life.read.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&plan.actions, log.write.number(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&plan.actions, log.write.number(), STDERR_FILENO);
  if (file) posix_spawn_file_actions_adddup2(&plan.actions, file.number(), file_number);
  // Ctrl-C is meant for this process, which decides what happens to its servers.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setsigdefault(&plan.attributes, &all);
  posix_spawnattr_setflags(&plan.attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int failed = posix_spawn(&pid_, "/bin/sh", &plan.actions, &plan.attributes,
                                 arguments.data(), environment.data());
  if (failed != 0)
    throw std::system_error(failed, std::generic_category(), "openenv: cannot start /bin/sh");

  reader_ = std::make_shared<reader>(*thread_, std::move(log.read));
  boost::asio::post(thread_->context(), [reader = reader_] { reader->start(); });
  life_ = std::move(life.write);
}

supervised_process::~supervised_process() {
  life_ = troupe::detail::descriptor();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  boost::asio::post(thread_->context(), [reader = reader_] { reader->stop(); });
}

bool supervised_process::ended() const { return reader_->ended(); }
std::string supervised_process::log() const { return reader_->log(); }

}  // namespace troupe::openenv
