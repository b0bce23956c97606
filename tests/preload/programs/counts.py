# Prints how many blocks the interpreter's allocator has, while a program makes and frees them in each way that there is.
import sys, tracemalloc

start = sys.getallocatedblocks()


class Slots:
    __slots__ = ("one", "two", "three")


def tell(what):
    print(what, sys.getallocatedblocks() - start)


def make(most):
    held = []
    for n in range(1000, 1000 + most):
        held += [bytes(n % 700), str(n) + "é", bytearray(n % 400), {n: None}, {n}, Slots(), complex(n, n), n * 10**20]
        held[-6] += b"more" * (n % 30)
        held.append([None] * (n % 40))
        for i in range(n % 90):
            held[-1].append(None)
        if n % 3 == 0:
            del held[-9:-4]
    return held


def run(most):
    held = make(most)
    tell("held")
    del held[::2]
    tell("half")
    held = None
    tell("freed")


run(2000)
tracemalloc.start(1)
run(1000)
made = make(500)
for each in tracemalloc.take_snapshot().statistics("lineno"):
    if each.traceback[0].filename == __file__:
        print(each.traceback[0].lineno, each.size, each.count)
tracemalloc.stop()
tell("after tracemalloc")
made = None
tell("freed")
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
script = """
import sys
start = sys.getallocatedblocks()
held = [bytes(n % 500) for n in range(5000)]
print("there", sys.getallocatedblocks() - start)
del held
print("there", sys.getallocatedblocks() - start)
"""
for i in range(3):
    one = interpreters.create()
    interpreters.run_string(one, script)
    interpreters.destroy(one)
    tell("subinterpreter")
