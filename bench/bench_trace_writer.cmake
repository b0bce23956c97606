winnow_bench(bench_trace_writer bench_trace_writer.c PARTS trace)
target_include_directories(bench_trace_writer PRIVATE ${CMAKE_SOURCE_DIR}/tests) # tree_source.h
