"""A service as Python has them: answers requests over HTTP for so many seconds, some ten a second, from a table of sqlite3 and a cache."""
import collections, http.server, json, logging, random, re, sqlite3, string, sys, threading, time, urllib.parse, urllib.request, zlib

cache = collections.OrderedDict()
database = sqlite3.connect(":memory:", check_same_thread=False)
database.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL, note TEXT)")
lock = threading.Lock()
log = logging.getLogger("service")
log.addHandler(logging.StreamHandler(open("/dev/null", "w")))
log.setLevel(logging.INFO)
page = string.Template("<html><head><title>$title</title></head><body>$rows</body></html>")


def search(words):
    pattern = re.compile("|".join(map(re.escape, words)) + f"|{random.randrange(1000)}")
    with lock:
        rows = database.execute("SELECT id, name, price, note FROM item WHERE name LIKE ? ORDER BY price LIMIT 50", (f"%{words[0]}%",)).fetchall()
    return [dict(zip(("id", "name", "price", "note"), row), hit=len(pattern.findall(row[3]))) for row in rows]


def store(items):
    with lock, database:
        database.executemany("INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?)", [(i["id"], i["name"], i["price"], i["note"]) for i in items])
    return len(items)


def render(found):
    rows = "".join(f"<p>{row['name']}: {row['price']:.2f} ({row['hit']})</p>" for row in found)
    return page.substitute(title=f"{len(found)} found", rows=rows).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, format, *arguments):
        log.info(format, *arguments)

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
        key = self.path
        if key not in cache:
            cache[key] = zlib.compress(render(search(query["word"])))
            if len(cache) > 2000:
                cache.popitem(last=False)
        self.answer(zlib.decompress(cache[key]))

    def do_POST(self):
        items = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(json.dumps({"stored": store(items), "at": time.time()}).encode())


def make_item():
    word = "".join(random.choices(string.ascii_lowercase, k=8))
    return {"id": random.randrange(20000), "name": word, "price": random.random() * 100, "note": " ".join(random.choices(["red", "blue", word, "large", "small"], k=30))}


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_address[1]}/"
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    urllib.request.urlopen(address, json.dumps([make_item() for _ in range(50)]).encode()).read()
    for _ in range(4):
        word = "".join(random.choices(string.ascii_lowercase, k=2))
        urllib.request.urlopen(address + "?" + urllib.parse.urlencode({"word": word})).read()
    time.sleep(0.4)
