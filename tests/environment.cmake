# What ctest sets for all tests. Commands that name functions ask the servers of this variable: a test reaches no network.
set(ENV{DEBUGINFOD_URLS} "")
