#!/usr/bin/env python3
"""A server of debug files on loopback that can fail in each way: debug_server.py FOLDER
FOLDER/ID has what is sent for a build-id, or one of these words: "silence" says nothing, "stop" begins a long answer and says no more,
"together" waits for a second such request, then both get their FOLDER/ID.file. Others are missing. The port is the first line of
FOLDER/port; FOLDER/requests gets a line for each request once it has come, and those that stop a line "stopped"."""
import http.server, os, sys, threading

folder = sys.argv[1]
both = threading.Barrier(2)
log = open(os.path.join(folder, "requests"), "a", buffering=1)


class Answer(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        build_id = self.path.split("/")[2]
        log.write(self.path + "\n")
        try:
            with open(os.path.join(folder, build_id), "rb") as file:
                what = file.read()
        except FileNotFoundError:
            return self.send_error(404)
        if what == b"silence":
            threading.Event().wait()
        if what == b"together":
            both.wait()
            with open(os.path.join(folder, build_id + ".file"), "rb") as file:
                what = file.read()
        stops = what == b"stop"
        self.send_response(200)
        self.send_header("Content-Length", "100000" if stops else str(len(what)))
        self.end_headers()
        self.wfile.write(b"x" * 100 if stops else what)
        self.wfile.flush()
        if stops:
            log.write("stopped\n")
            threading.Event().wait()


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
server.daemon_threads = True
with open(os.path.join(folder, "port.new"), "w") as file:
    print(server.server_address[1], file=file)
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
