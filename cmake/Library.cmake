# winnow_library(TARGET PARTS part... OUTPUT name EXPORT name NODE node HEADERS header... [CHECKS]): a shared library of parts
# and of all below them, for other projects Winnow::name. CHECKS: it checks its invariants, whatever this build does.
#
# It exports the functions that its headers declare with WN_API, in a version node of its own: where two of Winnow's
# libraries are in one process, each name of a program is bound to the library that the program was linked with, and the
# libraries do not see each other. Names that come from no header (what libwinnow-malloc takes over from the C library)
# have no version, as has `winnow_failure` (base/error.h).
function(winnow_library target)
  cmake_parse_arguments(LIBRARY "CHECKS" "OUTPUT;EXPORT;NODE" "PARTS;HEADERS" ${ARGN})
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
  if(LIBRARY_CHECKS AND NOT WINNOW_CHECKS)
    winnow_sources(sources ${LIBRARY_PARTS})
    add_library(${target}-objects OBJECT ${sources})
    target_link_libraries(${target}-objects PRIVATE winnow_flags)
    target_compile_options(${target}-objects PRIVATE -UWINNOW_CHECKS -DWINNOW_CHECKS=1
      -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=) # what ASSERT prints
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}-objects>)
  else()
    winnow_link_parts(${target} ${LIBRARY_PARTS})
  endif()
  # The soname changes with each version that may change a struct (winnow/version.h).
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${LIBRARY_OUTPUT} LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINK_DEPENDS ${map})
  target_link_libraries(${target} PRIVATE pthread)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,-z,now -Wl,-z,relro -Wl,-z,defs
    -Wl,-Bsymbolic-functions)
endfunction()

# winnow_static_library(TARGET OF library OUTPUT name EXPORT name): the same as the shared library OF, to be linked statically, for
# other projects Winnow::name. It is one object, in which the names that the shared library does not export are local, so that
# they meet none of a program's.
function(winnow_static_library target)
  cmake_parse_arguments(STATIC "" "OF;OUTPUT;EXPORT" "" ${ARGN})
  get_target_property(sources ${STATIC_OF} SOURCES)
  list(FILTER sources INCLUDE REGEX TARGET_OBJECTS)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}.o)
  add_custom_command(OUTPUT ${object} DEPENDS ${sources} COMMAND_EXPAND_LISTS VERBATIM
    COMMAND ${CMAKE_LINKER} -r -o ${object} ${sources}
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden --strip-debug ${object})
  add_library(${target} STATIC ${object})
  add_library(Winnow::${STATIC_EXPORT} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${STATIC_EXPORT} OUTPUT_NAME ${STATIC_OUTPUT} LINKER_LANGUAGE C)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} INTERFACE m pthread)
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
