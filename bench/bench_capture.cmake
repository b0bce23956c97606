winnow_bench(bench_capture bench_capture.c PARTS callstack)
