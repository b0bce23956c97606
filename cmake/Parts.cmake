# winnow_part(NAME SOURCES...): one folder of src/, such as base or gc/store, as an object library that may see what src/LAYERS
# lists for it. Its target is part_base, part_gc_store.
# winnow_test(NAME SOURCES... [PARTS ...] [LIBRARIES ...] [LABELS ...] [TIMEOUT s]): a cmocka program run by ctest.
file(STRINGS ${PROJECT_SOURCE_DIR}/src/LAYERS layers)
foreach(line ${layers})
  string(REGEX MATCH "^([a-z/]+): *(.*)$" ignored "${line}")
  string(REPLACE " " ";" layers_of_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

function(winnow_part name)
  if(NOT DEFINED layers_of_${name})
    message(FATAL_ERROR "src/LAYERS does not list the part '${name}'")
  endif()
  string(REPLACE "/" "_" target part_${name})
  add_library(${target} OBJECT ${ARGN})
  target_link_libraries(${target} PRIVATE winnow_flags)
endfunction()

# Sets ${out} to the named parts and everything below them.
function(winnow_closure out)
  set(parts ${ARGN})
  set(todo ${ARGN})
  while(todo)
    list(POP_FRONT todo part)
    foreach(below ${layers_of_${part}})
      if(NOT below IN_LIST parts)
        list(APPEND parts ${below})
        list(APPEND todo ${below})
      endif()
    endforeach()
  endwhile()
  set(${out} ${parts} PARENT_SCOPE)
endfunction()

# Links the object files of the named parts and of everything below them.
function(winnow_link_parts target)
  winnow_closure(parts ${ARGN})
  foreach(part ${parts})
    string(REPLACE "/" "_" objects part_${part})
    if(NOT TARGET ${objects}) # a name for several parts
      continue()
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    if(DEFINED PART_LIBRARIES_${part})
      target_link_libraries(${target} PRIVATE ${PART_LIBRARIES_${part}})
    endif()
  endforeach()
endfunction()

# The outside libraries that a part needs.
set(PART_LIBRARIES_symbols PkgConfig::ELFUTILS ${IBERTY})

function(winnow_test name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "PARTS;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${TEST_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE winnow_flags cmocka ${TEST_LIBRARIES} m pthread dl)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  winnow_link_parts(${name} ${TEST_PARTS})
  add_test(NAME ${name} COMMAND ${name})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "${TEST_LABELS}" SKIP_RETURN_CODE 77)
endfunction()
