# Writes random Python programs, which behave in one way however they are run, and a program that runs them all.
#   random_python.py FIRST COUNT MODE: random_program_SEED.py for each seed, and all.py; MODE is `together`, in which one
#   interpreter runs them one after the other, or `forks`, in which each has a process of its own.
# Prints NAME FILE FIRST LAST for each function of the programs: its name and its lines.
import ast, random, sys

SHARED = '''import atexit, contextlib, copy, functools, gc, itertools, os, signal, sys, threading, weakref, zlib
MASK = (1 << 61) - 1
total, deaths, kept = %(seed)d, [], []
lock = threading.Lock()
sys.unraisablehook = lambda what: print("ignored", what.exc_type.__name__, what.exc_value, file=sys.stderr)


def mix(value):
    global total
    with lock:
        total = (total + value * 2654435761) & MASK


def crc(value):
    return zlib.crc32(repr(value).encode())


class Base:
    def __init__(self, number, *others):
        self.number, self.others = number, others

    def __del__(self):
        deaths.append(1)

    def __lt__(self, other):
        return (self.number * 7) %% 13 < (other.number * 7) %% 13

    def __call__(self, more=0):
        return self.number + more + sum(other() for other in self.others if other is not self)


class Slots(Base):
    __slots__ = ("one", "two")

    def __enter__(self):
        self.one = [self.number] * 5
        return self

    def __exit__(self, kind, value, where):
        self.two = tuple(self.one)
        return kind is KeyError

    @property
    def both(self):
        return sum(self.one) + 1


class Fails(Base):
    def __del__(self):
        if self.number %% 5 == 0:
            raise ValueError(self.number)


def counted(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        wrapper.calls += 1
        return function(*arguments)
    wrapper.calls = 0
    return wrapper


def run(file, text, scope):
    return exec(compile(text, file, "exec"), scope)
'''

# Statements of a function: N is a number of the program, and the function returns the sum of what it adds to `got`.
# `call(n)` is a call of a function that was written before. {name} are random numbers.
PIECES = ['''items = []
for i in range({few} * 20):
    items.append(i * n % {odd})
items.sort(key=lambda each: (each * {odd}) % 101)
del items[::3]
items[2:5] = range({few})
got += crc(items)''', '''table = {{}}
for i in range({few} * 10):
    table[str(i * {odd} % 97)] = table[i, n] = [i] * (i % 7)
for key in list(table)[::2]:
    del table[key]
table |= {{i: None for i in range({few})}}
got += crc(table) + len(table.copy())''', '''text, data = "{odd}", bytearray()
for i in range({few} * 8):
    text += chr(97 + (i * n) % 26) + "é€𝒻"[i % 3]
    data.extend(text[-3:].encode())
    if i % 5 == 0:
        del data[: len(data) // 2]
got += crc(text * 3) + crc(bytes(data)) + len("".join(reversed(text)).split("é"))''', '''got += sum(a * b for a, b in zip(range({few}), [len(set(range(i % 9))) for i in range({few} * 3)]))
got += crc([[j for j in range(i)] for i in range({few})]) + crc({{i: {{i, i + 1}} for i in range({few})}})''', '''def inner(step):
    nonlocal got
    got += step
    return lambda more: step * more + n
got += sum(function({odd}) for function in [inner(i) for i in range({few})])''', '''def numbers(most):
    try:
        for i in range(most):
            sent = yield [i, n]
            if sent:
                yield from (sent for _ in range(2))
    except KeyError as error:
        yield [len(error.args), 1]
    finally:
        mix({odd})
steps = numbers({few})
got += next(steps)[0] + crc(steps.send({odd})) + crc(list(itertools.islice(steps, 3)))
steps.close()
steps = numbers(3)
next(steps)
got += crc(steps.throw(KeyError("{odd}"))) + len(list(steps)) + len(list(numbers({few})))''', '''things = sorted(Slots(i * {odd} % 31) for i in range({few}))
for thing in things:
    with thing as entered:
        got += entered.number
        if entered.number % 3 == 0:
            raise KeyError(thing.number)
    got += thing.both
got += crc([thing() for thing in things])''', '''import traceback
def fails(depth):
    try:
        if depth:
            return fails(depth - 1) + 1
        raise KeyError([n] * {few})
    except KeyError as error:
        if depth % 3 == 2:
            raise ValueError(depth) from error
        raise
    finally:
        mix(depth)
try:
    fails({few})
except (KeyError, ValueError) as error:
    got += crc(traceback.format_exc().count("fails")) + crc(str(error.__context__))''', '''def deep(depth, *kept):
    return deep(depth - 1, depth, [depth]) + len(kept) if depth else {odd}
got += deep({few} * 4)''', '''def endless(depth):
    return endless(depth + 1) + 1
try:
    endless(0)
except RecursionError as error:
    got += len(str(error))''', '''results = [None] * {few}
def work(at):
    held = [Base(i) for i in range(at * 3)]
    results[at] = sum(each() for each in held) + crc(["x" * i for i in range(at * 5)])
threads = [threading.Thread(target=work, args=(i,)) for i in range(min({few}, 4))]
for thread in threads: thread.start()
for thread in threads: thread.join()
got += crc(results)''', '''import asyncio
async def ticks(most):
    for i in range(most):
        await asyncio.sleep(0)
        yield i
async def adds(number):
    held = []
    async for tick in ticks(number % 5 + 1):
        held.append(bytes(tick * 50))
    if number % 4 == 3:
        raise LookupError(number)
    return len(held) * number
async def together():
    queue = asyncio.Queue(2)
    async def puts():
        for i in range({few}):
            await queue.put([i] * i)
    task = asyncio.ensure_future(puts())
    taken = [await queue.get() for _ in range({few})]
    await task
    return crc(taken) + crc([str(each) for each in await asyncio.gather(*map(adds, range({few})), return_exceptions=True)])
got += asyncio.run(together())''', '''known = weakref.WeakValueDictionary()
things = [Base(i) for i in range({few})]
for thing in things:
    known[thing.number] = thing
    weakref.finalize(thing, mix, thing.number)
refs = [weakref.ref(thing, lambda ref: mix({odd})) for thing in things]
del things[::2], thing
got += len(known) + sum(ref() is None for ref in refs)''', '''for i in range({few} * 3):
    one, two = Base(i), Fails(i)
    one.others, two.others = (two, one), [one, "text" * i]
del one, two
gc.collect()
if {odd} % 3 == 0:
    gc.disable()
    kept.append([[i] for i in range({few} * 100)])
    gc.enable()
got += len(kept)''', '''scope = {{"call": call, "n": n}}
for i in range(1, {few}):
    run("<random_made_%d_%d>" % ({seed}, i % 3), MADE[i % len(MADE)], scope)
    got += scope["made"](i) + eval("sum(j * n for j in range(%d))" % i, scope)''', '''with contextlib.ExitStack() as stack:
    @contextlib.contextmanager
    def opened(number):
        mix(number)
        try:
            yield [number] * 3
        finally:
            mix(number + 1)
    held = [stack.enter_context(opened(i)) for i in range({few})]
    stack.callback(held.clear)
    got += crc(held)
    with contextlib.suppress(ZeroDivisionError):
        got //= 0''', '''@functools.lru_cache(maxsize={few})
def cached(a, b=2):
    return crc((a, b))
@counted
def half(a):
    return a // 2 + functools.partial(max, n)(a)
got += sum(cached(i % 7) + half(i) for i in range({few} * 5)) + half.calls + cached.cache_info().hits''', '''import json, re, collections, heapq, struct, base64, pickle
value = {{"a": [i * {odd} for i in range({few})], "b": {{str(i): None for i in range({few})}}, "é": "x" * {odd}}}
got += crc(json.loads(json.dumps(value, indent=1))) + crc(pickle.loads(pickle.dumps(value, 4))) + crc(copy.deepcopy(value))
got += len(re.sub(r"(\\d+)[,\\s]*", lambda found: found.group(1)[::-1], json.dumps(value)))
count = collections.Counter(json.dumps(value))
got += crc(count.most_common(5)) + crc(collections.deque(range({odd}), {few}))
heap = []
for i in range({odd}):
    heapq.heappush(heap, ((i * n) % 53, i))
    if len(heap) > {few}:
        got += heapq.heappop(heap)[0]
point = collections.namedtuple("point{few}", "x y")
got += crc(point(n, {few})) + crc(struct.pack("<%dI" % {few}, *range({few}))) + crc(base64.b85encode(b"{odd}" * {few}))''', '''import decimal, fractions, hashlib, io, textwrap, random, array, string, difflib
chance = random.Random({odd})
numbers = [chance.random() for _ in range({few} * 4)]
chance.shuffle(numbers)
got += crc(sorted(numbers)) + crc(decimal.Decimal({odd}) / 7) + crc(sum(fractions.Fraction(1, i + 1) for i in range({few})))
got += crc(hashlib.sha256(b"x" * {odd}).hexdigest()) + crc(array.array("d", numbers)) + 7 ** ({few} * 20) % 1000003
out = io.StringIO()
for line in textwrap.wrap(" ".join(string.ascii_letters[i % 50:][:7] for i in range({few} * 5)), 30):
    out.write(string.Template("$a-$b\\n").substitute(a=line, b=n))
got += crc(out.getvalue()) + len(list(difflib.ndiff(out.getvalue().split(), ["a", "b"])))''', '''events = []
def traced(frame, event, what):
    events.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
    return traced
def simple(a):
    b = [a] * 3
    return len(b)
if threading.current_thread() is threading.main_thread():
    (sys.settrace if {odd} % 2 else sys.setprofile)(traced)
    simple({few})
    sys.settrace(None)
    sys.setprofile(None)
got += crc(events)''', '''if threading.current_thread() is threading.main_thread():
    arrived = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: arrived.append([number] * {few}))
    for i in range({few}):
        os.kill(os.getpid(), signal.SIGUSR1)
        held = [str(i) * j for j in range(10)]
    signal.signal(signal.SIGUSR1, before)
    got += crc(len(arrived) > 0)''', '''class Meta(type):
    def __new__(meta, name, bases, scope):
        return super().__new__(meta, name, bases, dict(scope, made_by={odd}))
class Field:
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, thing, kind): return len(self.name) + (thing is None)
class Made(metaclass=Meta):
    field, longer_field = Field(), Field()
    def __getattr__(self, name):
        if name.startswith("x"): return [name] * {few}
        raise AttributeError(name)
kinds = [type("Made%d" % i, (Made,), {{"x": i, "__slots__": ("a%d" % i,)}}) for i in range({few})]
got += sum(kind().field + kind().x + kind.made_by + kind().longer_field for kind in kinds) + len(Made().xyz) + hasattr(Made(), "y")''', '''for large in (lambda: bytearray(1 << 60), lambda: [0] * (1 << 60), lambda: "x" * (1 << 61), lambda: (0,) * (1 << 58)):
    try:
        large()
    except MemoryError as error:
        got += 1 + len(error.args)''', '''import ctypes
Pair = type("Pair", (ctypes.Structure,), {{"_fields_": [("a", ctypes.c_int), ("b", ctypes.c_double)]}})
pairs = (Pair * {few})(*[Pair(i, i * 0.5) for i in range({few})])
text = ctypes.create_string_buffer(b"{odd}" * {few}, {odd} + {few} * 9)
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
numbers = (ctypes.c_int * {few})(*[i * {odd} % 17 for i in range({few})])
ctypes.CDLL(None).qsort(numbers, {few}, 4, kind(lambda a, b: a[0] - b[0]))
got += crc(list(numbers)) + sum(pair.a + int(pair.b) for pair in pairs) + crc(text.raw)''', '''if threading.current_thread() is threading.main_thread() and {odd} % 4 == 0:
    sys.stdout.flush()
    child = os.fork()
    if not child:
        held = [[i] for i in range({odd} * 10)]
        os._exit({few})
    got += os.waitpid(child, 0)[1]''', '''rows = [tuple(range(i)) for i in range({few})]
for i in range({odd}):
    rows.insert(i % len(rows), list(reversed(rows[-1]))[: i % 11])
    rows.append(rows.pop(0))
rows.sort(key=functools.cmp_to_key(lambda a, b: len(a) - len(b)))
got += crc(rows) + crc(list(map(len, filter(None, rows)))) + functools.reduce(lambda a, b: (a * 31 + len(b)) % 65521, rows, 1)''',
]
MADE = ['''def made(a):
    return call(a) + \\
        sum([j * n for j in range(a)])
''', '''

class Thing:
    def method(self, a):
        return [a, (lambda: len("x" * a))()]
def made(a):
    return Thing().method(a)[1]
''', '''made = lambda a: len([str(i) for i in range(a + n % 7)])
''', '''
def made(a):
    def part():
        yield from range(a)
    return sum(part())
''']
ENDS = ['pass', 'sys.exit({code})', 'sys.exit("no {code}")', 'raise LookupError("end", {code})', 'raise SystemExit',
        'atexit.register(print, "at exit", {code})', 'kept.append(Fails(5)); kept.append(kept)',
        'kept.append(Base(1, *[Base(i) for i in range({code})])); last = lambda: kept', '[][{code}]',
        'try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise KeyError({code}) from error']
OWN_ENDS = ['sys.stdout.flush(); os._exit({code})', 'raise KeyboardInterrupt', 'sys.stdout.flush(); os.kill(os.getpid(), signal.SIGTERM)']

ALL = '''import os, sys, traceback


def run(file):
    with open(file, encoding="utf-8") as source:
        text = source.read()
    exec(compile(text, file, "exec"), {"__name__": file, "__builtins__": __builtins__})


def together(files):
    for file in files[:-1]:
        try:
            run(file)
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
    run(files[-1])


def forks(files):
    for file in files:
        child = os.fork()
        if not child:
            return run(file)
        print(file, os.waitpid(child, 0)[1], flush=True)


'''


def indented(text, columns=4):
    return "".join(" " * columns + line + "\n" for line in text.split("\n"))


def program(seed, own_ends):
    chance = random.Random(seed)
    numbers = lambda: dict(few=chance.randrange(3, 12), odd=chance.randrange(3, 200), code=chance.randrange(1, 100), seed=seed)
    parts = [SHARED % {"seed": seed}, "MADE = %r\n" % MADE, "\n\ndef function_0(n):\n    return n % 1009\n"]
    count = chance.randrange(2, 6)
    for i in range(1, count):
        parts.append("\n\n%sdef function_%d(n, call=function_%d):\n    got = n\n" % ("@counted\n" * chance.randrange(2), i, chance.randrange(i)))
        for piece in chance.sample(PIECES, chance.randrange(1, 5)):
            parts.append(indented(piece.format(**numbers())))
        parts.append("    mix(got)\n    return got + call(n + 1)\n")
    parts.append("\n\nmix(function_%d(%d))\ngc.collect()\nprint(total, len(deaths))\n" % (count - 1, seed % 1000))
    parts.append(chance.choice(ENDS + (OWN_ENDS if own_ends else [])).format(**numbers()) + "\n")
    return "".join(parts)


WITHOUT_NAMES = {ast.Lambda: "<lambda>", ast.ListComp: "<listcomp>", ast.SetComp: "<setcomp>", ast.DictComp: "<dictcomp>",
                 ast.GeneratorExp: "<genexpr>"}


def describe(text, file):
    names = {("<module>", 1, text.count("\n") + 1)}
    for node in ast.walk(ast.parse(text)):
        is_named = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        name = node.name if is_named else WITHOUT_NAMES.get(type(node))
        if name:
            names.add((name, min(each.lineno for each in [node] + getattr(node, "decorator_list", [])), node.end_lineno))
    for name in sorted(names):
        print(name[0], file, *name[1:])


def main(first, count, mode):
    files = []
    for seed in range(first, first + count):
        files.append("random_program_%d.py" % seed)
        text = program(seed, mode == "forks")
        with open(files[-1], "w", encoding="utf-8") as out:
            out.write(text)
        describe(text, files[-1])
        for i, made in enumerate(MADE):
            for j in range(3):
                describe(made, "<random_made_%d_%d>" % (seed, j))
    with open("all.py", "w") as out:
        out.write(ALL + "%s(%r)\n" % (mode, files))


main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
