winnow_bench(bench_start bench_start.c PARTS base)
