add_executable(bench_trees programs/trees.c)
add_executable(bench_storm programs/storm.c)
target_link_libraries(bench_storm PRIVATE pthread)
foreach(program bench_trees bench_storm)
  target_compile_options(${program} PRIVATE -O2 -g)
endforeach()
# What an interposer costs that only forwards: the floor for everything that is preloaded.
add_library(bench_forward SHARED programs/forward.c)
target_compile_options(bench_forward PRIVATE -O2 -fno-builtin)
