winnow_bench(bench_snapshot bench_snapshot.c PARTS snapshot)
