# Calls functions while a signal handler of C maps memory.
import ctypes, sys

alarms = ctypes.CDLL(sys.argv[1])


def work(n):
    return [bytearray(5000 + n) for _ in range(n % 7)] if n < 2 else work(n - 1) and work(n // 2)


def numbers(n):
    yield from (work(i % 9) for i in range(n))


alarms.begin()
while alarms.count() < 2000:
    list(numbers(40))
alarms.end()
