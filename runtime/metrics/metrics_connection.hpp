#pragma once
// One HTTP connection of the metrics server. Internal to runtime/metrics/.

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <list>
#include <memory>
#include <optional>

#include "runtime/metrics/answer.hpp"
#include "runtime/metrics/scraper.hpp"
#include "runtime/net/own_hosts.hpp"

namespace troupe::detail {

class metrics_connection;

/// The state that the connections of one server share. Only the server's thread uses it.
struct metrics_connections {
  const metrics_server_options& options;
  const own_hosts& hosts;
  const answer_sources& sources;
  scraper& scrapes;
  /// The open connections, at most options.connections_max: in the order in which their clients or
  /// the server began to do what they are doing.
  std::list<metrics_connection*> open = {};

  /// Closes a connection to make room for another one: of those whose client owes something the one
  /// that has waited for longest, else the one that the server works for longest.
  void evict_one();
};

/// The connection of one client. The operation that it waits for keeps it alive:
///
///   connected -> reading a request -> writing its answer -> reading the next one ...
///                       |                    `-> discarding what else comes -> closed
///                       `-> closed (time-out, end of file, evicted)
///
/// Its client owes something except while the server makes the answer: bytes of a request, or to
/// read.
class metrics_connection : public std::enable_shared_from_this<metrics_connection> {
 public:
  metrics_connection(boost::asio::ip::tcp::socket socket, metrics_connections& table);
  ~metrics_connection();

  void start();
  /// Closes the connection immediately, to make room for another one.
  void evict();
  bool client_owes() const { return client_owes_; }

 private:
  void wait_for_request(std::chrono::milliseconds limit);
  void read_header();
  void on_header(boost::beast::error_code error);
  void answer_request();
  void write(answer what, bool head_only, bool keep_alive);
  void discard_rest();
  void begin(bool client_owes);
  void leave_table();

  boost::beast::tcp_stream stream_;
  metrics_connections& table_;
  std::list<metrics_connection*>::iterator place_;  ///< The place in table_.open.
  bool in_table_ = true;
  bool client_owes_ = true;
  std::optional<scraper::ticket> scrape_;  ///< The scrape that the connection waits for.
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> parser_;
  boost::beast::http::response<boost::beast::http::string_body> response_;
  std::size_t discarded_ = 0;
};

}  // namespace troupe::detail
