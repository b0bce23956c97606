winnow_bench(bench_memtrace bench_memtrace.c ${CMAKE_SOURCE_DIR}/tests/sources/memtrace_codes.c PARTS export)
target_include_directories(bench_memtrace PRIVATE ${CMAKE_SOURCE_DIR}/tests)
