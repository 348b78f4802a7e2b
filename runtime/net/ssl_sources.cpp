// What BOOST_ASIO_SEPARATE_COMPILATION leaves to one source of Asio's TLS.
#include <boost/asio/ssl/impl/src.hpp>
