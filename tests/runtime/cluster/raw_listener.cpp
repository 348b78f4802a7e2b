#include "tests/runtime/cluster/raw_listener.hpp"

#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <mutex>
#include <thread>
#include <utility>

#include "tests/runtime/cluster/raw_socket.hpp"

namespace troupe::detail::testing {

namespace asio = boost::asio;
using asio::ip::tcp;

/// Talks to one caller after the other, in a thread of its own.
class raw_listener::service {
 public:
  explicit service(std::function<std::string(const std::string&)> answer)
      : answer_(std::move(answer)), thread_([this] { serve(); }) {}
  ~service() {
    {
      const std::lock_guard held(mutex_);
      stopping_ = true;
      // Wakes the thread. Closing a socket that another thread waits for would not.
      ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
      if (talking_to_ >= 0) ::shutdown(talking_to_, SHUT_RDWR);
    }
    thread_.join();
  }

  int port() const { return port_; }
  std::vector<std::string> heard() const {
    const std::lock_guard held(mutex_);
    return heard_;
  }

 private:
  void serve() {
    for (;;) {
      tcp::socket caller(io_);
      boost::system::error_code error;
      acceptor_.accept(caller, error);
      {
        const std::lock_guard held(mutex_);
        if (error || stopping_) return;
        talking_to_ = caller.native_handle();
      }
      talk(caller);
      const std::lock_guard held(mutex_);
      talking_to_ = -1;
    }
  }

  void talk(tcp::socket& caller) {
    bool first = true;
    while (const auto text = read_text(caller, first)) {
      const auto said = framed_text(answer_to(*text));
      if (!write_bytes(caller, std::exchange(first, false) ? raw_magic + said : said)) return;
    }
  }

  std::string answer_to(const std::string& text) {
    {
      const std::lock_guard held(mutex_);
      heard_.push_back(text);
    }
    return answer_(text);
  }

  const std::function<std::string(const std::string&)> answer_;
  asio::io_context io_;
  tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  const int port_ = acceptor_.local_endpoint().port();
  mutable std::mutex mutex_;  // Guards everything below but the thread.
  std::vector<std::string> heard_;
  bool stopping_ = false;
  int talking_to_ = -1;
  std::thread thread_;
};

raw_listener::raw_listener(std::function<std::string(const std::string&)> answer)
    : service_(std::make_unique<service>(std::move(answer))) {}

raw_listener::~raw_listener() = default;

std::string raw_listener::address() const {
  return "127.0.0.1:" + std::to_string(service_->port());
}

std::vector<std::string> raw_listener::heard() const { return service_->heard(); }

}  // namespace troupe::detail::testing
