# troupe_add_plugin(NAME SOURCE...): builds NAME.so, a plug-in with environments (actors/worlds/plugin.hpp). Everything
# in it but troupe_plugin() is hidden, so nothing in it is mixed up with what the program has that loads it.
set(TROUPE_PLUGIN_SYMBOLS "${CMAKE_CURRENT_LIST_DIR}/plugin.map")
function(troupe_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE troupe::plugin)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so" CXX_VISIBILITY_PRESET hidden
                                           VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS "${TROUPE_PLUGIN_SYMBOLS}")
  target_link_options(${name} PRIVATE "-Wl,--version-script=${TROUPE_PLUGIN_SYMBOLS}")
  if(NOT TROUPE_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()
