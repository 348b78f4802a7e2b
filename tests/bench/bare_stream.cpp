#include "tests/bench/bare_stream.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <utility>

namespace troupe::detail {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

void bare_reader::read_next() {
  asio::async_read(socket_, asio::buffer(&size_, sizeof size_), [this](error_code no, std::size_t) {
    if (no) return;
    message_.resize(size_);
    asio::async_read(socket_, asio::buffer(message_), [this](error_code error, std::size_t) {
      if (!error) heard();
    });
  });
}

void bare_reader::write(const void* message, std::size_t size) {
  const auto length = static_cast<std::uint32_t>(size);
  const std::array<asio::const_buffer, 2> both{asio::buffer(&length, sizeof length),
                                               asio::buffer(message, size)};
  error_code ignored;
  asio::write(socket_, both, ignored);
}

// ---- the server ---------------------------------------------------------------------------------

namespace {

/// Lives as long as the process.
class bare_answer final : public bare_reader {
 public:
  explicit bare_answer(socket from) : bare_reader(std::move(from)) {}

 private:
  void heard() override {
    write(message_.data(), message_.size() > bare_ping_size ? 1 : message_.size());
    read_next();
  }
};

}  // namespace

bare_server::bare_server()
    : io_thread("bare-server"), acceptor_(context(), {asio::ip::address_v4::loopback(), 0}) {
  accept();
}

bare_server::~bare_server() { stop(); }

void bare_server::accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket came) {
    if (error) return;
    came.set_option(tcp::no_delay(true), error);
    (new bare_answer(std::move(came)))->read_next();
    accept();
  });
}

// ---- the client ---------------------------------------------------------------------------------

class bare_stream::end final : public bare_reader {
 public:
  end(socket to, std::counting_semaphore<>& answers)
      : bare_reader(std::move(to)), answers_(answers) {}
  using bare_reader::write;
  void shut() {
    error_code ignored;
    socket_.shutdown(socket::shutdown_both, ignored);
  }

 private:
  void heard() override {
    read_next();
    answers_.release();
  }
  std::counting_semaphore<>& answers_;
};

bare_stream::bare_stream(int port) : io_thread("bare-stream") {
  tcp::socket to(context());
  to.connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)});
  to.set_option(tcp::no_delay(true));
  end_ = std::make_unique<end>(std::move(to), answers_);
  asio::post(context(), [this] { end_->read_next(); });
}

bare_stream::~bare_stream() {
  asio::post(context(), [this] { end_->shut(); });
  stop();
}

cost bare_stream::ping(pid_t server, int times) { return stream(server, times, bare_ping_size, 1); }

cost bare_stream::stream(pid_t server, int times, std::size_t size, int window) {
  from_.resize(size, std::byte{1});
  return measure({server}, times, [&] {
    for (int i = 0; i < times; ++i) {
      if (i >= window) answers_.acquire();
      end_->write(from_.data(), size);
    }
    for (int i = 0; i < window; ++i) answers_.acquire();
  });
}

}  // namespace troupe::detail
