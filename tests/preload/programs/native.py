"""Holds objects and native blocks of known sizes, and writes what they take: FUNCTION OBJECTS NATIVE."""
import ctypes, os, sys, zlib

kept = []
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]


def array_bytes(value):  # of a list, which is an object of its own
    return sys.getsizeof(value) - sys.getsizeof([])


def hold_objects():
    kept.append(bytes(3000000))  # calloc
    kept.append(b"x" * 1000000)  # malloc
    kept.append([None] * 500000)
    kept.append(bytearray(2000000))


def hold_grown():  # small at first, then by realloc
    grown = []
    for i in range(200000):
        grown.append(None)
    kept.append(grown)


def hold_native():
    for i in range(7):
        kept.append(libc.malloc(1000000))


def hold_squeezed():
    kept.append(zlib.compressobj(9, zlib.DEFLATED, 15, 9))


hold_objects()
hold_grown()
hold_native()
hold_squeezed()
with open("held", "w") as out:
    around = sys.getsizeof(b"") if sys.version_info >= (3, 15) else 1  # since then a bytearray has its bytes in an object
    sizes = [sys.getsizeof(kept[0]), sys.getsizeof(kept[1]), array_bytes(kept[2]), len(kept[3]) + around]
    print("hold_objects", sum(sizes), 0, file=out)
    print("hold_grown", array_bytes(kept[4]), 0, file=out)
    print("hold_native", 0, 7000000, file=out)
os._exit(0)
