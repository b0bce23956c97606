# How everything here is compiled.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# Compiled through ccache where there is one. (CCACHE_DISABLE=1 in the environment: not.)
find_program(CCACHE ccache)
mark_as_advanced(CCACHE)
foreach(language C CXX)
  if(CCACHE AND NOT CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${CCACHE})
  endif()
endforeach()

# A seed gives the same samples in each build: no compiler joins a product and a sum where the processor could.
add_library(winnow_flags INTERFACE)
target_compile_options(winnow_flags INTERFACE -ffp-contract=off)
target_compile_definitions(winnow_flags INTERFACE _GNU_SOURCE)
target_include_directories(winnow_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
# initial-exec: thread-local access inside malloc must never call the dynamic loader, which may allocate.
target_compile_options(winnow_flags INTERFACE
  -Wall -Wextra $<$<COMPILE_LANGUAGE:C>:-Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes -Wvla>
  $<$<COMPILE_LANGUAGE:C>:-ftls-model=initial-exec -fno-semantic-interposition -fexceptions>)
if(WINNOW_TINY)
  target_compile_definitions(winnow_flags INTERFACE WINNOW_TINY=1)
endif()
if(WINNOW_CHECKS)
  target_compile_definitions(winnow_flags INTERFACE WINNOW_CHECKS=1)
endif()
# Hundreds of test programs are linked, each with all it needs. lld takes half the time of ld; what ships is linked by ld, and so
# are the tests of the other builds. It writes no unwind information for stubs of the procedure linkage table: a test that walks from
# any instruction has the property LINKED_BY_LD.
if(WINNOW_SANITIZE OR WINNOW_TINY)
  find_program(LLD ld.lld)
  mark_as_advanced(LLD)
  if(LLD)
    target_link_options(winnow_flags INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:LINKED_BY_LD>>>:-fuse-ld=lld>)
  endif()
endif()
if(WINNOW_SANITIZE)
  target_compile_options(winnow_flags INTERFACE -fsanitize=${WINNOW_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(winnow_flags INTERFACE -fsanitize=${WINNOW_SANITIZE})
endif()
