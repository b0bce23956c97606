winnow_bench(bench_memtrace bench_memtrace.c ${CMAKE_SOURCE_DIR}/tests/sources/memtrace_writer.c PARTS sources)
target_include_directories(bench_memtrace PRIVATE ${CMAKE_SOURCE_DIR}/tests)
