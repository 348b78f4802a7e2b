// What BOOST_ASIO_SEPARATE_COMPILATION and BOOST_BEAST_SEPARATE_COMPILATION leave to one source.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
