# What `cmake --install` puts where, for find_package(Winnow), pkg-config winnow and winnow-malloc. The components are Debian
# packages (Package.cmake).
if(WINNOW_COMMAND)
  install(TARGETS winnow RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT winnow)
  install(FILES docs/winnow.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT winnow)
  install(FILES completions/winnow.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME winnow COMPONENT winnow)
  install(FILES completions/winnow.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT winnow)
  install(FILES completions/_winnow DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT winnow)
endif()
install(DIRECTORY include/winnow DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT winnow_dev)
install(FILES README.md LICENSE CHANGES.md docs/trace-format.md docs/report-json.md docs/exports.md docs/profiles.md docs/queries.md docs/report.md docs/faq.md docs/coming-from.md docs/embedding.md docs/how-it-works.md docs/library.md docs/sampling.md docs/use.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT winnow)
# The sources of the binding for OCaml: a compiled one would fit one version of OCaml only.
set(binding ${CMAKE_INSTALL_DATADIR}/winnow/ocaml)
install(FILES bindings/ocaml/META bindings/ocaml/Makefile bindings/ocaml/README.md bindings/ocaml/dune-project bindings/ocaml/winnow.opam
  DESTINATION ${binding} COMPONENT winnow_dev)
install(DIRECTORY bindings/ocaml/src DESTINATION ${binding} COMPONENT winnow_dev)

# winnow_pkg_config(NAME LIBRARY DESCRIPTION [flag of the compiler]): the file that pkg-config reads. Its paths begin where the file lies, so
# that what is installed can be moved; a folder that was given as an absolute path stays one.
function(winnow_pkg_config pc_name pc_library pc_description)
  set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  else()
    file(RELATIVE_PATH up /${folder} /)
    string(REGEX REPLACE "/$" "" up "${up}")
    set(pc_prefix "\${pcfiledir}/${up}")
  endif()
  foreach(kind lib include)
    string(TOUPPER ${kind} upper)
    if(IS_ABSOLUTE ${CMAKE_INSTALL_${upper}DIR})
      set(pc_${kind}dir ${CMAKE_INSTALL_${upper}DIR})
    else()
      set(pc_${kind}dir "\${prefix}/${CMAKE_INSTALL_${upper}DIR}")
    endif()
  endforeach()
  set(pc_flags ${ARGN})
  configure_file(cmake/library.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${folder} COMPONENT winnow_dev)
endfunction()

if(TARGET winnow-malloc)
  foreach(library malloc heap)
    install(TARGETS winnow-${library} EXPORT WinnowTargets
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT winnow_${library} NAMELINK_COMPONENT winnow_dev)
  endforeach()
  # What a maker of a language needs besides, all in one place.
  install(TARGETS winnow-heap-checks winnow-heap-static winnow-heap-checks-static EXPORT WinnowTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT winnow_dev ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT winnow_dev)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/Winnow)
  install(EXPORT WinnowTargets NAMESPACE Winnow:: DESTINATION ${folder} COMPONENT winnow_dev)
  configure_package_config_file(cmake/WinnowConfig.cmake.in ${PROJECT_BINARY_DIR}/WinnowConfig.cmake INSTALL_DESTINATION ${folder})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/WinnowConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/WinnowConfig.cmake ${PROJECT_BINARY_DIR}/WinnowConfigVersion.cmake DESTINATION ${folder}
    COMPONENT winnow_dev)
  winnow_pkg_config(winnow winnow "A garbage-collected heap with statistical memory profiling")
  winnow_pkg_config(winnow-heap-checks winnow-heap-checks "The heap of winnow with its checks, to find a program's mistakes"
    -DWN_DEBUG)
  winnow_pkg_config(winnow-malloc winnow-malloc "Statistical memory profiling of the malloc heap")
endif()
