#pragma once
// Internal to this folder: short names for Boost's namespaces.

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

namespace boost::asio {}
namespace boost::beast::websocket {}

namespace troupe::openenv_server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;

using http_request = http::request<http::string_body>;

}  // namespace troupe::openenv_server
