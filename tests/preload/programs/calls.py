# Allocates blocks of sizes that occur once, from calls of all kinds, and writes down the calls that are under way as
# the interpreter tells them itself: SIZE NAME@FILE:LINE..., the outermost call first.
import asyncio, ctypes, functools, os, signal, sys, threading, zlib

libc = ctypes.CDLL(None)
malloc, free = libc.malloc, libc.free
malloc.restype, malloc.argtypes, free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
locked_malloc = ctypes.PyDLL(None).malloc  # keeps the interpreter's lock
locked_malloc.restype, locked_malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
lock = threading.Lock()
size = 1000003
lines = []


def note(frame):
    global size
    names = []
    while frame:
        code = frame.f_code
        names.append("%s@%s:%d" % (getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno or 0))
        frame = frame.f_back
    with lock:
        size += 16
        lines.append("%d %s" % (size, " ".join(reversed(names))))
        return size


def probe(*ignored):
    number = note(sys._getframe()); free(malloc(number))
    number = note(sys._getframe()); free(locked_malloc(number))
    return 0


def deep(n):
    if n:
        deep(n - 1)
    else:
        probe()


def numbers():
    probe()
    yield 1
    probe()
    yield from (probe() for _ in range(2))


class Plain:
    probe()

    def method(self):
        probe()
        return [probe() for _ in range(2)]

    @property
    def attribute(self):
        return (lambda: probe())()

    def __del__(self):
        probe()

    def __lt__(self, other):
        probe()
        return False

    def __getattr__(self, name):
        probe()


class Slots:
    __slots__ = ("one", "two")

    def __init__(self):
        self.one = self.two = probe()

    def __enter__(self):
        probe()

    def __exit__(self, *what):
        probe()


def handles():
    try:
        try:
            raise ValueError
        except ValueError:
            probe()
            raise KeyError
        finally:
            probe()
    except KeyError:
        probe()
    for i in range(3):
        while True:
            if i:
                probe()
                break
            else:
                probe(); break


def long_line(a=None,
              b=None):
    return (a,
            probe(
                1,
                b),
            {"a": probe(),
             "b": probe()})


def größer():
    probe()


def больше():
    größer()


def 更大():
    больше()


exec("def 𝒻𝓃():\n    更大()\n")


def made():
    for i in range(40):  # each lies where the one before lay; every thirtieth differs in nothing but the line of a call
        scope = {"probe": probe}
        source = "\n" * (i % 2) + "def made_%d():\n%s  probe()\nmade_%d()\n" % (i % 5, "\n" * (i % 4), i % 5)
        exec(compile(source, "<made_%d>" % (i % 3), "exec"), scope)


async def sleeper():
    probe()
    await asyncio.sleep(0)
    probe()


async def ticks():
    for i in range(2):
        await asyncio.sleep(0)
        probe()
        yield i


async def together():
    await asyncio.gather(sleeper(), sleeper())
    async for _ in ticks():
        probe()
    async with Guard():
        probe()


class Guard:
    async def __aenter__(self):
        probe()

    async def __aexit__(self, *what):
        await sleeper()


def called_back(a, b):
    probe()
    return 0


def calls_back():
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    items = (ctypes.c_int * 3)(3, 2, 1)
    libc.qsort(items, 3, 4, kind(called_back))
    sorted([3, 1, 2], key=probe)
    functools.reduce(lambda a, b: probe(), [1, 2, 3])
    list(map(probe, [1, 2]))
    max([Plain(), Plain()])


def on_signal(number, frame):
    probe()


def signals():
    signal.signal(signal.SIGUSR1, on_signal)
    os.kill(os.getpid(), signal.SIGUSR1)
    for _ in range(100):
        pass


def unlocked():
    zlib.decompress(zlib.compress(b"text" * 100000))
    probe()


def in_threads():
    threads = [threading.Thread(target=everything, args=(False,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def everything(first):
    probe(), list(numbers()), Plain().method(), Plain().attribute, Plain().missing, Slots()
    with Slots():
        probe()
    deep(60), deep(3), handles(), long_line(), 𝒻𝓃(), calls_back(), unlocked(), made()
    asyncio.run(together())
    if first:
        signals()


try:
    everything(True)
    in_threads()
    sys.setprofile(lambda *what: None)
    handles()
    sys.setprofile(None)
finally:
    probe()
with open("calls", "w", encoding="utf-8") as out:
    out.write("\n".join(lines) + "\n")
os._exit(0)
