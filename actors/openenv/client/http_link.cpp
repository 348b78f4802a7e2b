// The older protocol: each server has one environment, which all clients share, and each reset and
// step is an HTTP request. Replies are converted to the messages of the current protocol.

#include <boost/asio/post.hpp>

#include "actors/openenv/client/http_call.hpp"
#include "actors/openenv/client/io_thread.hpp"
#include "actors/openenv/client/link.hpp"
#include "actors/openenv/protocol/error.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::openenv {

namespace {

class http_link final : public link, public std::enable_shared_from_this<http_link> {
 public:
  http_link(io_thread& thread, const server_url& url, const link_options& options)
      : thread_(thread), url_(url), options_(options) {}

  void open(told tell) override {
    boost::asio::post(thread_.context(), [self = shared_from_this(), tell = std::move(tell)] {
      self->look_for("/health", tell, [self, tell](const http_answer& health) {
        if (health.status != 200)
          return tell(self->refusal("GET /health: expected status 200, got " +
                                    std::to_string(health.status)));
        self->look_for("/schema", tell, [self, tell](const http_answer& schema) {
          // Current servers make a new environment for each HTTP request.
          if (schema.status == 200)
            return tell(self->refusal(
                "it refuses WebSockets, without which servers of today keep no sessions"));
          tell(std::string());
        });
      });
    });
  }

  void ask(request_kind kind, std::string data, named_limit timeout, told tell) override {
    boost::asio::post(thread_.context(), [self = shared_from_this(), kind, data = std::move(data),
                                          timeout, tell = std::move(tell)]() mutable {
      if (self->closed_) return tell(self->closing());
      self->asking_ = std::move(tell);
      self->call_ = start_http_call(self->thread_, self->request_of(kind, std::move(data), timeout),
                                    [self, kind](outcome<http_answer> got) {
                                      const auto tell = std::exchange(self->asking_, nullptr);
                                      if (!got) return tell(got.error());
                                      tell(message_of(kind, std::move(got).value()));
                                    });
    });
  }

  void close() override {
    boost::asio::post(thread_.context(), [self = shared_from_this()] {
      self->closed_ = true;
      if (self->call_) self->call_->cancel();
      if (const auto tell = std::exchange(self->asking_, nullptr)) tell(self->closing());
    });
  }

 private:
  void look_for(const std::string& path, const told& tell,
                std::function<void(const http_answer&)> then) {
    if (closed_) return;
    call_ = start_http_call(thread_,
                            {.url = url_,
                             .path = path,
                             .timeout = options_.connect_timeout,
                             .reply_bytes_max = options_.reply_bytes_max,
                             .trust = options_.trust,
                             .headers = options_.headers},
                            [tell, then = std::move(then)](outcome<http_answer> got) {
                              if (!got) return tell(got.error());
                              then(got.value());
                            });
  }

  std::exception_ptr refusal(const std::string& why) const {
    return std::make_exception_ptr(error(failure::handshake, "openenv: " + url_.text + ": " + why));
  }
  std::exception_ptr closing() const {
    return std::make_exception_ptr(
        error(failure::cancelled, "openenv: " + url_.text + ": the session was closed"));
  }

  outgoing_request request_of(request_kind kind, std::string data, named_limit timeout) const {
    outgoing_request request{.url = url_,
                             .path = '/' + std::string(to_string(kind)),
                             .timeout = timeout,
                             .reply_bytes_max = options_.reply_bytes_max,
                             .trust = options_.trust,
                             .headers = options_.headers};
    if (kind == request_kind::reset) request.body = data.empty() ? "{}" : std::move(data);
    if (kind == request_kind::mcp) request.body = std::move(data);
    if (kind == request_kind::step) request.body = "{\"action\":" + data + '}';
    return request;
  }

  static std::string message_of(request_kind kind, http_answer got) {
    if (got.status == 200) {
      const auto as = kind == request_kind::state ? reply_kind::state
                      : kind == request_kind::mcp ? reply_kind::mcp
                                                  : reply_kind::observation;
      return "{\"type\":\"" + std::string(to_string(as)) + "\",\"data\":" + got.body + '}';
    }
    const auto code = got.status == 422   ? server_error::validation_error
                      : got.status == 500 ? server_error::execution_error
                                          : server_error::session_error;
    return error_text(code, "status " + std::to_string(got.status) + ": " +
                                troupe::detail::printable(got.body, 4096));
  }

  io_thread& thread_;
  const server_url url_;
  const link_options options_;
  // These members are used only on the I/O thread.
  std::shared_ptr<http_call> call_;
  told asking_;  ///< Called with the reply; null when idle.
  bool closed_ = false;
};

}  // namespace

std::shared_ptr<link> make_http_link(io_thread& thread, const server_url& url,
                                     const link_options& options) {
  return std::make_shared<http_link>(thread, url, options);
}

}  // namespace troupe::openenv
