#include "runtime/metrics/metrics_connection.hpp"

#include <algorithm>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <exception>
#include <utility>

namespace troupe::detail {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::size_t header_bytes_max = 8192;
constexpr std::size_t buffer_bytes_max = 2 * header_bytes_max;
constexpr std::size_t discarded_bytes_max = 4 << 20;
constexpr auto discard_limit = std::chrono::seconds(1);

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

void metrics_connections::evict_one() {
  const auto owing = std::ranges::find_if(open, &metrics_connection::client_owes);
  const auto which = owing != open.end() ? owing : open.begin();
  if (which != open.end()) (*which)->evict();
}

metrics_connection::metrics_connection(asio::ip::tcp::socket socket, metrics_connections& table)
    : stream_(std::move(socket)),
      table_(table),
      place_(table.open.insert(table.open.end(), this)),
      buffer_(buffer_bytes_max) {}

metrics_connection::~metrics_connection() { leave_table(); }

void metrics_connection::leave_table() {
  if (std::exchange(in_table_, false)) table_.open.erase(place_);
}

/// The client, or the server, begins to do something, so all others have done theirs for longer.
void metrics_connection::begin(bool client_owes) {
  client_owes_ = client_owes;
  if (in_table_) table_.open.splice(table_.open.end(), table_.open, place_);
}

void metrics_connection::evict() {
  const auto self = shared_from_this();  // The scraper may hold the only other reference.
  leave_table();
  stream_.close();
  if (scrape_) table_.scrapes.withdraw(*std::exchange(scrape_, std::nullopt));
}

void metrics_connection::start() {
  stream_.expires_after(table_.options.header_timeout);
  read_header();
}

void metrics_connection::wait_for_request(std::chrono::milliseconds limit) {
  begin(true);
  if (buffer_.size() > 0) {  // The client sent more before it had the answer to its last request.
    stream_.expires_after(table_.options.header_timeout);
    return read_header();
  }
  stream_.expires_after(limit);
  stream_.async_read_some(buffer_.prepare(header_bytes_max),
                          [self = shared_from_this()](beast::error_code error, std::size_t bytes) {
                            if (error) return;
                            self->buffer_.commit(bytes);
                            self->stream_.expires_after(self->table_.options.header_timeout);
                            self->read_header();
                          });
}

void metrics_connection::read_header() {
  parser_.emplace();
  parser_->header_limit(header_bytes_max);
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](beast::error_code error, std::size_t) {
                            self->on_header(error);
                          });
}

void metrics_connection::on_header(beast::error_code error) {
  if (!in_table_) return;  // It was evicted when the request had just come.
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return write(make_refusal(431), false, false);
  }
  const bool malformed = error && error.category() == make_error_code(http::error{}).category() &&
                         error != http::error::end_of_stream &&
                         error != http::error::partial_message;
  if (malformed) return write(make_refusal(400), false, false);
  if (error) return;  // The connection timed out, ended or was evicted.
  const auto refusal = table_.hosts.refusal(parser_->get());
  if (!refusal.empty()) return write(make_refusal(400, refusal), false, false);
  answer_request();
}

void metrics_connection::answer_request() {
  const auto& request = parser_->get();
  const bool head_only = request.method() == http::verb::head;
  // A request with a body is answered without reading the body, so a request after it couldn't be
  // found.
  const bool keep_alive = request.keep_alive() && parser_->is_done();
  const auto method = view(request.method_string()), target = view(request.target());
  if (asks_scrape(method, target)) {
    begin(false);
    stream_.expires_never();
    scrape_ =
        table_.scrapes.ask([self = shared_from_this(), head_only, keep_alive](const auto& text) {
          self->scrape_.reset();
          self->write(answer_scrape(text.get()), head_only, keep_alive);
        });
    return;
  }
  answer what;
  try {
    what = make_answer(method, target, table_.sources);
  } catch (const std::exception&) {
    what = make_refusal(500);
  }
  write(std::move(what), head_only, keep_alive);
}

void metrics_connection::write(answer what, bool head_only, bool keep_alive) {
  response_ = {};
  response_.result(what.status);
  response_.keep_alive(keep_alive);
  response_.set(http::field::content_type, what.content_type);
  response_.set(http::field::cache_control, "no-store");
  response_.set("X-Content-Type-Options", "nosniff");
  if (what.status == 405) response_.set(http::field::allow, "GET, HEAD");
  response_.content_length(what.body.size());
  if (!head_only) response_.body() = std::move(what.body);
  begin(true);
  stream_.expires_after(table_.options.idle_timeout);
  http::async_write(stream_, response_,
                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                      if (error) return;
                      if (self->response_.keep_alive()) {
                        self->wait_for_request(self->table_.options.idle_timeout);
                      } else {
                        beast::error_code ignored;
                        self->stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
                        self->stream_.expires_after(discard_limit);
                        self->buffer_.clear();
                        self->begin(true);
                        self->discard_rest();
                      }
                    });
}

// Reads and drops what the client still sends. Closing a socket with unread bytes would reset the
// connection, and the client might never see its answer.
void metrics_connection::discard_rest() {
  stream_.async_read_some(buffer_.prepare(header_bytes_max),
                          [self = shared_from_this()](beast::error_code error, std::size_t bytes) {
                            self->discarded_ += bytes;
                            if (error || self->discarded_ > discarded_bytes_max) return;
                            self->discard_rest();
                          });
}

}  // namespace troupe::detail
