winnow_bench(bench_trace_writer bench_trace_writer.c PARTS trace)
