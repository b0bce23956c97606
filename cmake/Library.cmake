# winnow_library(TARGET PARTS part... OUTPUT name EXPORT name NODE node HEADERS header...): a shared library of parts and of
# all below them, for other projects Winnow::name.
#
# It exports the functions that its headers declare with WN_API, in a version node of its own: where two of Winnow's
# libraries are in one process, each name of a program is bound to the library that the program was linked with, and the
# libraries do not see each other. Names that come from no header (what libwinnow-malloc takes over from the C library)
# have no version, as has `winnow_failure` (base/error.h).
function(winnow_library target)
  cmake_parse_arguments(LIBRARY "" "OUTPUT;EXPORT;NODE" "PARTS;HEADERS" ${ARGN})
  set(names "")
  foreach(header ${LIBRARY_HEADERS})
    set(file ${PROJECT_SOURCE_DIR}/include/winnow/${header})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(REPLACE ";" "," text "${text}")
    string(REGEX MATCHALL "WN_API [^,(]*wn_[a-z0-9_]+\\(" declarations "${text}")
    foreach(declaration ${declarations})
      string(REGEX MATCH "wn_[a-z0-9_]+\\($" name "${declaration}")
      string(REPLACE "(" "" name "${name}")
      list(APPEND names ${name})
    endforeach()
  endforeach()
  list(SORT names)
  list(JOIN names "; " names)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  set(node ${LIBRARY_NODE}_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  file(CONFIGURE OUTPUT ${map} CONTENT "${node} { global: ${names}; local: wn_*; };\n")

  add_library(${target} SHARED ${map})
  add_library(Winnow::${LIBRARY_EXPORT} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${LIBRARY_EXPORT})
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  winnow_link_parts(${target} ${LIBRARY_PARTS})
  # The soname changes with each version that may change a struct (winnow/version.h).
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${LIBRARY_OUTPUT} LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINK_DEPENDS ${map})
  target_link_libraries(${target} PRIVATE pthread)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,-z,now -Wl,-z,relro -Wl,-z,defs
    -Wl,-Bsymbolic-functions)
endfunction()

# winnow_twins(PROGRAM SOURCES...): the program's twins, PROGRAM_shared and PROGRAM_both, linked as an outside program is.
function(winnow_twins program)
  get_target_property(name ${program} OUTPUT_NAME)
  if(NOT name)
    set(name ${program})
  endif()
  foreach(twin shared both)
    add_executable(${program}_${twin} ${ARGN})
    set_target_properties(${program}_${twin} PROPERTIES OUTPUT_NAME ${name}_${twin})
    target_compile_definitions(${program}_${twin} PRIVATE _GNU_SOURCE)
    target_link_options(${program}_${twin} PRIVATE -Wl,--no-as-needed)
  endforeach()
  target_link_libraries(${program}_shared PRIVATE Winnow::heap m pthread)
  target_link_libraries(${program}_both PRIVATE Winnow::malloc Winnow::heap m pthread)
endfunction()
