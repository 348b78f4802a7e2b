#include "runtime/process/program.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "runtime/net/event_loop.hpp"
#include "runtime/process/keeper.hpp"

namespace troupe::detail {

namespace {

// A program's sockets close a moment before its end is known.
constexpr std::chrono::milliseconds status_known_within{1000};

std::pair<descriptor, descriptor> make_socket_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a socket pair");
  }
  descriptor own(ends[0]), other(ends[1]);
  if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a socket not block");
  }
  return {std::move(own), std::move(other)};
}

}  // namespace

struct program::state final : kept_process {
  state() : kept_process(nullptr) {}

  void ended(const std::string& how) override {
    {
      std::lock_guard lock(mutex);
      why = how;
    }
    known.notify_all();
    let_go();  // another process, which it has started, may hold its end of the socket
  }
  void let_go() override { ::shutdown(socket.number(), SHUT_RDWR); }

  descriptor socket;
  std::mutex mutex;
  std::condition_variable known;
  std::optional<std::string> why;
};

/// Reads the program's output on the thread of all links.
class program::output final : public event_loop::handler,
                              public std::enable_shared_from_this<output> {
 public:
  output(descriptor from, on_line told) : from_(std::move(from)), told_(std::move(told)) {}

  void start() {
    io_loop().post([self = shared_from_this()] {
      self->watched_ = io_loop().watch(self->from_.number(), EPOLLIN, self);
    });
  }
  void stop() {
    io_loop().post([self = shared_from_this()] {
      self->told_ = nullptr;
      self->forget();
    });
  }

  void ready(std::uint32_t) override {
    char block[4096];
    const auto bytes = ::read(from_.number(), block, sizeof block);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (bytes <= 0) return forget();
    take({block, static_cast<std::size_t>(bytes)});
  }

  std::string log() const {
    std::lock_guard lock(mutex_);
    return log_;
  }

 private:
  void take(std::string_view text) {
    {
      std::lock_guard lock(mutex_);
      log_ += text;
      if (log_.size() > log_bytes_max) log_.erase(0, log_.size() - log_bytes_max);
    }
    for (const char c : text) {
      if (c != '\n') line_ += c;
      if (c == '\n' || line_.size() == line_bytes_max) end_line();
    }
  }
  void end_line() {
    if (told_ && !line_.empty()) told_(line_);
    line_.clear();
  }
  void forget() {
    if (watched_ == 0) return;
    end_line();
    io_loop().forget(std::exchange(watched_, 0));
    from_ = descriptor();
  }

  descriptor from_;
  on_line told_;
  event_loop::key watched_ = 0;
  std::string line_;
  mutable std::mutex mutex_;
  std::string log_;
};

namespace {

std::pair<descriptor, descriptor> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  descriptor read_end(ends[0]), write_end(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {std::move(read_end), std::move(write_end)};
}

}  // namespace

program::program(const child_options& options, const descriptor& memory, on_line told)
    : state_(std::make_shared<state>()), output_([&] {
        auto [own, other] = make_socket_pair();
        auto [read_end, write_end] = make_pipe();
        state_->socket = std::move(own);
        state_->start([&] { return spawn(options, other, memory, write_end); });
        return std::make_shared<output>(std::move(read_end), std::move(told));
      }()) {
  output_->start();
}

program::~program() {
  state_->let_go();
  state_->kill_later();
  output_->stop();
}

pid_t program::pid() const { return state_->pid(); }

int program::socket() const { return state_->socket.number(); }

std::optional<std::string> program::end() const {
  std::unique_lock lock(state_->mutex);
  state_->known.wait_for(lock, status_known_within, [this] { return state_->why.has_value(); });
  return state_->why;
}

std::string program::log() const { return output_->log(); }

void program::hang_up() { state_->let_go(); }

void program::kill() { state_->kill(); }

void program::send_signal(int number) { state_->send_signal(number); }

}  // namespace troupe::detail
