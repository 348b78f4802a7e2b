# Run by cpack between the installation into a folder of its own and the writing of the packages.
set(installed ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
set(debian ${CPACK_TROUPE_DEBIAN_FOLDER})

function(compress file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

compress(${installed}/command/usr/share/man/man1/troupe.1)
# Debian's zsh looks for the completions of packages there.
file(RENAME ${installed}/command/usr/share/zsh/site-functions ${installed}/command/usr/share/zsh/vendor-completions)
foreach(package command:troupe development:troupe-dev)
  string(REGEX REPLACE "(.*):(.*)" "${installed}/\\1/usr/share" share ${package})
  string(REGEX REPLACE ".*:" "" name ${package})
  file(COPY ${debian}/copyright ${debian}/changelog DESTINATION ${share}/doc/${name}
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  compress(${share}/doc/${name}/changelog)
endforeach()

file(GLOB unused ${installed}/command/usr/libexec/troupe/unused/*)
if(unused)
  execute_process(COMMAND strip --strip-unneeded ${unused} COMMAND_ERROR_IS_FATAL ANY)
  file(MAKE_DIRECTORY ${installed}/command/usr/share/lintian/overrides)
  file(COPY_FILE ${debian}/troupe.lintian-overrides ${installed}/command/usr/share/lintian/overrides/troupe)
endif()
