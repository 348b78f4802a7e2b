# Headers that most sources of some libraries include, compiled once for all of them. The sources include what they need
# all the same: tests/checks/public_headers_test.py compiles each header without these.

# troupe_precompile(NAME [EXTENDS other] HEADERS path... LIBRARIES target...): the headers, and those of the other, for
# targets that say target_precompile_headers(TARGET REUSE_FROM NAME). LIBRARIES bring the folders and definitions that the
# headers need.
function(troupe_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 given "" "EXTENDS" "HEADERS;LIBRARIES")
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// CMake compiles precompiled headers for a source only.\n")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE ${given_LIBRARIES})
  # In quotes: with its absolute path a cache of compilations would be of no use to another clone.
  list(TRANSFORM given_HEADERS REPLACE "^([a-z]+/.*)" "\"\\1\"")
  set(extended)
  if(given_EXTENDS)
    get_target_property(extended ${given_EXTENDS} PRECOMPILE_HEADERS)
  endif()
  target_precompile_headers(${name} PRIVATE ${extended} ${given_HEADERS})
endfunction()
