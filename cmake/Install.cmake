# What `cmake --install` puts where, for find_package(Winnow) and pkg-config winnow, winnow-heap.
install(TARGETS winnow RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/winnow DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES docs/winnow.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES completions/winnow.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME winnow)
install(FILES README.md LICENSE CHANGES.md docs/trace-format.md docs/report-json.md docs/queries.md docs/sampling.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET winnow-malloc)
  set_target_properties(winnow-malloc PROPERTIES EXPORT_NAME malloc)
  set_target_properties(winnow-heap PROPERTIES EXPORT_NAME heap)
  foreach(library winnow-malloc winnow-heap)
    target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    install(TARGETS ${library} EXPORT WinnowTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endforeach()
  install(EXPORT WinnowTargets NAMESPACE Winnow:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Winnow)
  configure_package_config_file(cmake/WinnowConfig.cmake.in ${CMAKE_BINARY_DIR}/WinnowConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Winnow)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/WinnowConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  configure_file(cmake/winnow.pc.in ${CMAKE_BINARY_DIR}/winnow.pc @ONLY)
  configure_file(cmake/winnow-heap.pc.in ${CMAKE_BINARY_DIR}/winnow-heap.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/WinnowConfig.cmake ${CMAKE_BINARY_DIR}/WinnowConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Winnow)
  install(FILES ${CMAKE_BINARY_DIR}/winnow.pc ${CMAKE_BINARY_DIR}/winnow-heap.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
