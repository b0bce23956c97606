winnow_bench(bench_gap bench_gap.c ${CMAKE_SOURCE_DIR}/tests/support/toy_heap.c PARTS memprof)
target_include_directories(bench_gap PRIVATE ${CMAKE_SOURCE_DIR}/tests)
