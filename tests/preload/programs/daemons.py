# Ends while daemon threads allocate in C, without the interpreter's lock: it frees what it knows of them, and they go on.
import ctypes, sys, threading

library = ctypes.CDLL(sys.argv[1])


class Late:
    def __del__(self, wait=library.await_allocations):
        wait(100000)


def work():
    library.allocate_for_ever()


for _ in range(8):
    threading.Thread(target=work, daemon=True).start()
library.await_allocations(1000)
sys.modules["late"] = Late()
late = Late()
