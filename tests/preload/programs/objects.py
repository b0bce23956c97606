# Makes objects of kinds of which the interpreter keeps no free ones, and writes down what tracemalloc knows of each line: LINE BYTES COUNT.
import os, sys, tracemalloc

held = [None] * 100000
at = 0


def keep(thing):
    global at
    held[at] = thing
    at += 1


class Slots:
    __slots__ = ("one", "two", "three")


def make(n, small, smaller, larger):
    keep(bytes(small))
    keep(str(n) + "é")
    keep("%d больше" % n)
    keep({n})
    keep(n * 10**20)
    keep(n.to_bytes(100, "big").hex())
    keep(complex(n, n))
    keep(bytearray(smaller))
    keep(Slots())
    str(n) * 20
    bytes(larger)


numbers = [(n, 40 + n % 300, n % 400, n % 700) for n in range(1000, 1800)]  # 3.14 keeps free ones of small numbers
tracemalloc.start(1)
for each in numbers:
    make(*each)
snapshot = tracemalloc.take_snapshot()
tracemalloc.stop()
with open("lines", "w") as out:
    for each in snapshot.statistics("lineno"):
        if each.traceback[0].filename == __file__ and 17 < each.traceback[0].lineno < 31:
            out.write("%d %d %d\n" % (each.traceback[0].lineno, each.size, each.count))
os._exit(0)
