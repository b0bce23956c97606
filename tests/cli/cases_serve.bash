# winnow serve; sourced by run. What it shares with winnow view is tested there.
# shellcheck shell=bash disable=SC2154

# Starts the server in the background; leaves its address in `url` with a slash, or "unix:PATH", and its process in `server`.
serve() { # ARGUMENT...
  rm -f served
  "$winnow" serve "$@" >served 2>complaints 7>&- 8<&- &
  server=$!
  trap 'kill $server ${program-} 2>/dev/null; cd /; rm -rf "$work"' EXIT
  wait_for_address '(http://[^/ ]+:[0-9]+/|unix:[^ ]*)'
}

serve_freely() { serve --listen 127.0.0.1:0 "$@"; } # at any free port

# What is got is left in `body`, its headers in `headers`.
gets() { # STATUS PATH [CURL-ARGUMENT...]
  local wanted=$1 path=$2 got
  shift 2
  got=$(curl -s -m 60 -D headers -o body -w '%{http_code}' "$@" "$url$path")
  [ "$got" = "$wanted" ] || fail "status $got, not $wanted: $path $*: $(head -c 300 body)"
}

has_header() { tr -d '\r' <headers | grep -qix -- "$1" || fail "no header '$1': $(cat headers)"; }

# Asks for a path until the answer has the text, and leaves it in `body`.
wait_for_body() { # PATH TEXT
  local tries
  for ((tries = 0; tries < 100; tries++)); do
    curl -s -o body "$url$1"
    grep -q -- "$2" body && return
    sleep 0.1
  done
  fail "no '$2' in: $(head -c 2000 body)"
}

body_says() { grep -aEq -- "$1" body || fail "no '$1' in: $(head -c 2000 body)"; }

# The profile in `body`, as lines, in `profile`.
read_profile() {
  "$build/tests/export/show_profile" body >profile || fail "a wrong profile: $(head -n 5 profile)"
}

# The sum of a value of the samples whose innermost function has this name: 1 and 2 for allocated blocks and bytes, 3 and
# 4 for held ones. The profile is that of `body`.
sum_of() { # VALUE FUNCTION
  awk -v field=$(($1 + 1)) -v name="$2" '/^sample / { at = $0; sub(/.*;/, "", at); if (at == name) sum += $field } END { printf "%d\n", sum }' profile
}

# Records a program that allocates as it is told, every block of it; its trace is `t`. Leaves its process in `program`.
begin_obeying() { # ARGUMENT-OF-RECORD...
  need curl
  need_recording
  local tries
  mkfifo orders answers
  "$winnow" record -q -r 1 -o t "$@" -- "$build/tests/cli/programs/obeys" <orders >answers 2>recorded &
  program=$!
  trap 'kill $program 2>/dev/null; cd /; rm -rf "$work"' EXIT
  exec 7>orders 8<answers
  order free 0
  for ((tries = 0; tries < 100; tries++)); do "$winnow" info t >/dev/null 2>&1 && return; sleep 0.05; done
  fail "no trace: $(cat recorded)"
}

order() { # alloc COUNT BYTES DEPTH | free COUNT
  local answer
  echo "$@" >&7
  read -r answer <&8
  [ "$answer" = "done" ] || fail "no answer to $*: $answer"
}

end_obeying() {
  exec 7>&-
  wait "$program" || fail "the program failed: $(cat recorded)"
}

# Prints the number of the process. [TRACE]
pid_of_trace() { "$winnow" info --json "${1-t}" | sed -nE 's/.*"pid": ([0-9]+).*/\1/p'; }

profiles_are_those_of_the_report() {
  need curl
  need jq
  make named t
  serve_freely t
  local kind
  for kind in heap:inuse_space allocs:alloc_space; do
    gets 200 "debug/pprof/${kind%:*}"
    has_header 'Content-Type: application/octet-stream'
    has_header "Content-Disposition: attachment; filename=\"${kind%:*}\""
    has_header 'X-Content-Type-Options: nosniff'
    read_profile
    [ "$(grep -c '^type ' profile)" = 4 ] && grep -qx "default ${kind#*:}" profile || fail "$(head -n 8 profile)"
    "$winnow" report --json --at end t | jq -r '.totals | .allocated_bytes.estimate, .asked_bytes.estimate // .live_at_end_bytes.estimate' >totals
    awk 'NR == FNR { total[NR] = $1; next } /^sample / { allocated += $3; held += $5; n++ }
      END { exit !((allocated - total[1]) ^ 2 < n ^ 2 && (held - total[2]) ^ 2 < n ^ 2 && n > 3) }' totals profile ||
      fail "other totals than $(cat totals): $(head -n 20 profile)"
  done
  gets 200 'debug/pprof/heap?debug=1'
  has_header 'Content-Type: text/plain; charset=utf-8'
  body_says '^heap profile: [0-9]+: [0-9]+ \[[0-9]+: [0-9]+\] @ heapprofile$'
  gets 200 debug/pprof/cmdline
  gets 200 debug/pprof/
  for kind in allocs delta_heap heap; do body_says "href=\"$kind"; done
  for kind in block mutex goroutine profile trace threadcreate x heap/ '../../../etc/passwd' 'heap%2f'; do
    gets 404 "debug/pprof/$kind" --path-as-is
    has_header 'X-Go-Pprof: 1'
  done
  for kind in 'heap?seconds=0' 'heap?seconds=x' 'heap?pid=x' 'heap?pid=0' 'delta_heap?seconds=1' "delta_heap?client=$(printf '%0100d' 1)"; do
    gets 400 "debug/pprof/$kind"
  done
  gets 404 'debug/pprof/heap?pid=2147483647'
  gets 404 'debug/pprof/heap?service=nothing'
  gets 200 page
  body_says 'data-section='
  gets 200 ''
  body_says 'href="/page'
  end_view
}

go_reads_what_is_served() {
  need curl
  need go
  make named t
  serve_freely t
  export HOME=$PWD GOFLAGS=-mod=mod GOCACHE=$PWD/cache
  local kind
  for kind in heap allocs 'heap?seconds=1' 'heap?debug=1'; do
    go tool pprof -top -sample_index=alloc_space "${url}debug/pprof/$kind" >top 2>errors || fail "$kind: $(cat errors)"
    [ "$kind" = 'heap?seconds=1' ] || grep -Eq 'parse|main' top || fail "$kind: no names: $(cat top)"
  done
  end_view
  serve --listen "unix:$PWD/socket" t
  curl -s --unix-socket socket -o heap.pb.gz http://localhost/debug/pprof/heap
  go tool pprof -raw heap.pb.gz >raw 2>errors || fail "$(cat errors)"
  grep -q 'inuse_space/bytes\[dflt\]' raw || fail "$(head raw)"
  end_view
}

two_scrapes_differ_by_the_events_between() {
  need_many_blocks
  begin_obeying
  order alloc 100 1000 0
  serve_freely t
  gets 200 debug/pprof/heap
  read_profile
  [ "$(sum_of 1 obtain) $(sum_of 2 obtain) $(sum_of 4 obtain)" = "100 100000 100000" ] || fail "first: $(cat profile)"
  gets 200 'debug/pprof/delta_heap?client=one'
  read_profile
  ! grep -q '^sample' profile || fail "the first answer is not empty: $(cat profile)"
  order alloc 7 3000 0
  order free 57
  gets 200 debug/pprof/allocs
  read_profile
  [ "$(sum_of 1 obtain) $(sum_of 2 obtain) $(sum_of 3 obtain) $(sum_of 4 obtain)" = "107 121000 50 50000" ] || fail "second: $(cat profile)"
  gets 200 'debug/pprof/delta_heap?client=one' -I
  gets 200 'debug/pprof/delta_heap?client=one'
  read_profile
  [ "$(sum_of 1 obtain) $(sum_of 2 obtain) $(sum_of 3 obtain) $(sum_of 4 obtain)" = "7 21000 50 50000" ] || fail "delta: $(cat profile)"
  gets 200 'debug/pprof/delta_heap?client=one'
  read_profile
  [ "$(sum_of 1 obtain) $(sum_of 4 obtain)" = "0 50000" ] || fail "nothing new: $(cat profile)"
  gets 200 'debug/pprof/delta_heap?client=two'
  read_profile
  ! grep -q '^sample' profile || fail "another client has the cursor of the first"
  gets 200 'debug/pprof/heap?seconds=1000000'
  read_profile
  [ "$(sum_of 2 obtain) $(sum_of 4 obtain)" = "121000 50000" ] || fail "seconds: $(cat profile)"
  gets 200 metrics
  body_says 'winnow_held_bytes\{service="obeys",pid="[0-9]+",function="obtain"\} 50000$'
  body_says 'winnow_allocated_bytes_total\{service="obeys",pid="[0-9]+",function="obtain"\} 121000$'
  body_says 'winnow_writing\{service="obeys",pid="[0-9]+"\} 1$'
  order alloc 10 500 0
  gets 200 metrics
  body_says 'winnow_allocated_bytes_total\{service="obeys",pid="[0-9]+",function="obtain"\} 126000$'
  body_says 'winnow_held_bytes\{service="obeys",pid="[0-9]+",function="obtain"\} 55000$'
  end_obeying # and the last state is served
  gets 200 debug/pprof/heap
  read_profile
  [ "$(sum_of 2 obtain)" = 126000 ] || fail "after the end: $(cat profile)"
  end_view
}

# The trace estimates the past anew when it is thinned out; what is served does not.
served_totals_never_fall_beside_a_compaction() {
  need_many_blocks
  need jq
  begin_obeying
  serve_freely t
  local round
  for round in {1..8}; do
    order alloc 20000 64 "$round" # a stack of its own
    order free 20000
    [ "$round" -lt 3 ] || succeeds compact -q -m 4M t
    gets 200 debug/pprof/heap
    read_profile
    grep '^sample' profile | awk '{ allocated[$6] = $3; print $6, $2, $3 }' | sort >now
    if [ -e before ]; then
      join before now | awk '$4 < $2 || $5 < $3 { fell = 1 } END { exit fell || !NR }' || fail "a total fell: $(join before now)"
      [ "$(join before now | wc -l)" = "$(wc -l <before)" ] || fail "a stack is gone"
    fi
    cp now before
  done
  [ -n "$(find t* -name '*.history')" ] || fail "nothing was compacted"
  "$winnow" report --json t | jq -e --argjson served "$(sum_of 2 obtain)" '.totals.allocated_bytes.estimate - $served | fabs > 0.5' >/dev/null ||
    fail "the trace does not estimate anew"
  end_obeying
  end_view
}

# Another recording, then what is no file, at the path of one that was served.
paths_are_used_again() {
  need_many_blocks
  need curl
  make named t
  serve_freely t
  gets 200 debug/pprof/heap
  make many t
  gets 200 debug/pprof/heap
  rm t
  ln -s /dev/zero t
  gets 200 debug/pprof/heap # the last state
  gets 200 metrics
  end_view
}

# Another user can put a link to any file where its trace is.
roots_server_follows_no_links_that_it_finds() {
  need curl
  [ "$(id -u)" = 0 ] || skip "this needs root"
  install -d -o 65534 folder
  make named secret
  make plain folder/own.trace
  local pid
  pid=$(pid_of_trace folder/own.trace)
  ln -s ../secret folder/link.trace
  serve_freely folder
  gets 200 ''
  [ "$(grep -o 'href="/page' body | wc -l)" = 1 ] || fail "a link is served: $(cat body)"
  gets 200 "page?pid=$pid"
  rm folder/own.trace
  mv folder/link.trace folder/own.trace
  gets 500 "page?pid=$pid"
  body_says 'own.trace'
  end_view
  ln -s secret chosen
  serve_freely chosen
  gets 200 debug/pprof/heap # which the user named
  end_view
}

recordings_come_and_go() {
  need_many_blocks
  need curl
  mkdir folder
  serve_freely folder
  gets 200 ''
  body_says 'No process'
  gets 404 debug/pprof/heap
  gets 200 metrics
  body_says '^winnow_recordings 0$'
  make named folder/old.trace
  mkfifo orders answers
  ln -s "$PWD/folder/run.trace" t
  need_recording
  "$winnow" record -q -r 1 -o folder/run.trace -- "$build/tests/cli/programs/obeys" <orders >answers 2>recorded &
  program=$!
  exec 7>orders 8<answers
  order alloc 10 100 0
  local pid
  wait_for_body metrics 'winnow_recordings 1'
  body_says 'winnow_held_bytes\{service="obeys".*function="obtain"\} 1000$'
  pid=$(pid_of_trace)
  gets 200 debug/pprof/heap # the one that grows
  gets 200 "debug/pprof/heap?pid=$pid"
  gets 200 'debug/pprof/heap?service=obeys'
  gets 410 "debug/pprof/heap?pid=$(pid_of_trace folder/old.trace)"
  body_says 'ended before this server began; its trace is .*old.trace'
  end_obeying
  wait_for_body '' 'ended 2'
  body_says "$pid</td><td>obeys</td><td>ended 2"
  gets 200 "debug/pprof/heap?pid=$pid" # the last state
  read_profile
  [ "$(sum_of 2 obtain)" = 1000 ] || fail "$(cat profile)"
  gets 200 metrics
  body_says '^winnow_recordings 0$'
  gets 200 "page?pid=$(pid_of_trace folder/old.trace)"
  end_view
}

# Two traces of programs of one name, which are named by it or by nothing.
processes_of_a_service_are_added() {
  need curl
  make named one
  make plain other
  local trace sums=0
  for trace in one other; do
    serve_freely $trace
    gets 200 debug/pprof/heap
    read_profile
    sums=$((sums + $(awk '/^sample/ { sum += $3 + $5 } END { printf "%d", sum }' profile)))
    end_view
  done
  serve_freely one other
  gets 400 debug/pprof/heap
  body_says 'pid=1 +service=pro"gram'
  gets 200 'debug/pprof/heap?service=pro%22gram'
  read_profile
  awk -v sums=$sums '/^sample/ { sum += $3 + $5; n++ } END { exit !((sum - sums) ^ 2 <= n ^ 2 && sum > 0) }' profile ||
    fail "the sum is not $sums: $(cat profile)"
  gets 404 'debug/pprof/heap?service=pro'
  end_view
}

serving_is_for_those_who_may_ask() {
  need curl
  make plain t
  serve_freely t
  local port=${url#http://127.0.0.1:} method
  port=${port%/}
  for method in POST PUT DELETE OPTIONS PATCH; do
    gets 405 debug/pprof/heap -X $method
    has_header 'Allow: GET, HEAD'
  done
  gets 200 debug/pprof/heap -I
  gets 200 debug/pprof/symbol -d '0x1+0x2'
  body_says '^num_symbols: 1$'
  gets 403 metrics -H 'Host: example.com'
  [ ! -s body ] || fail "a refusal tells something"
  gets 403 metrics -H "Host: 127.0.0.1.example.com:$port"
  gets 403 metrics -H 'Origin: http://example.com'
  gets 403 metrics -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Dest: image'
  gets 200 metrics -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Dest: document'
  gets 200 metrics -H 'Sec-Fetch-Site: same-origin' -H 'Sec-Fetch-Dest: empty'
  gets 200 metrics -H "Host: localhost:$port"
  refused 1 "cannot listen on 127.0.0.1:$port: " serve --listen "127.0.0.1:$port" t
  end_view
  refused 2 'other machines can reach it, so a token is needed' serve --listen 0.0.0.0:0 t
  for port in 127.0.0.1 6060 localhost:6060 127.0.0.1:x 127.0.0.1:65536 '[::1:1' ''; do
    refused 2 'it must be an IP address|is no IP address' serve --listen "$port" t
  done
  refused 1 'nothing: No such file' serve nothing
  refused 1 'there is no process 4194399' serve 4194399
}

a_token_opens_the_server_to_others() {
  need curl
  make plain t
  local token=abcDEF0123456789+/=. escaped=abcDEF0123456789%2B%2F%3D.
  echo $token >token
  chmod 644 token
  refused 1 'others can read' serve --token-file token t
  chmod 600 token
  echo short >few
  chmod 600 few
  refused 1 'must be a token of 16' serve --token-file few t
  refused 1 'cannot open none' serve --token-file none t
  serve --listen 0.0.0.0:0 --token-file token t
  gets 401 metrics
  has_header 'WWW-Authenticate: Bearer'
  gets 401 metrics -H 'Authorization: Bearer abcDEF0123456789+/=x'
  gets 401 metrics -H "Authorization: Bearer ${token}x"
  gets 401 metrics -H "Authorization: Basic $token"
  gets 401 "metrics?token=${escaped}x"
  gets 401 'metrics?token='
  gets 200 metrics -H "Authorization: Bearer $token" -H 'Host: example.com'
  gets 200 "?token=$escaped"
  local link
  link=$(grep -o 'href="/metrics[^"]*"' body | head -n 1)
  link=${link#*/}
  gets 200 "${link%\"}"
  end_view
}

sockets_are_for_their_user() {
  need curl
  make plain t
  serve --listen "unix:$PWD/socket" t
  [ "$(stat -c %a socket)" = 600 ] || fail "mode $(stat -c %a socket)"
  curl -s --unix-socket socket -o body http://anything/metrics
  body_says '^winnow_recordings 1'
  refused 1 'a process listens there already' serve --listen "unix:$PWD/socket" t
  kill -KILL $server
  wait $server 2>/dev/null
  [ -S socket ] || fail "it was removed by nobody"
  serve --listen "unix:$PWD/socket" t # it replaces the stale one
  curl -s --unix-socket socket -o body http://anything/metrics || fail "it does not answer"
  end_view
  [ ! -e socket ] || fail "the socket stays"
  serve --listen "unix:$PWD/socket" t
  local first=$server
  mv socket moved # so that no other file gets its number
  serve --listen "unix:$PWD/socket" t
  kill -TERM "$first"
  wait "$first" || fail "the first server failed"
  curl -s --unix-socket socket -o body http://anything/metrics || fail "a server that ended took the socket of another"
  end_view
  echo text >file
  refused 1 'file is there, and no socket' serve --listen "unix:$PWD/file" t
  [ "$(cat file)" = text ] || fail "the file was changed"
}

prometheus_accepts_the_metrics() {
  need curl
  need promtool
  local kind
  for kind in odd hostile named plain collected none; do
    make $kind t
    serve_freely t
    gets 200 metrics
    has_header 'Content-Type: text/plain; version=0.0.4; charset=utf-8'
    promtool check metrics <body >complaint 2>&1 || fail "$kind: $(cat complaint)"
    [ "$(grep -c '^winnow_held_bytes{' body)" -le 41 ] || fail "too many functions"
    end_view
  done
}

# Of samples that are left out of memory the rate is not lower.
the_rate_in_metrics_is_that_of_the_process() {
  need curl
  need jq
  local rate served
  make many t 20000
  rate=$("$winnow" info --json t | jq .rate)
  serve_freely --samples 1000 t
  gets 200 metrics
  served=$(sed -n 's/^winnow_rate{.*} //p' body)
  awk -v a="$rate" -v b="$served" 'BEGIN { exit !(b > 0 && (a / b - 1) ^ 2 < 1e-12) }' || fail "the rate is $rate, and $served is served"
  end_view
}

serving_goes_on_beside_a_hundred_connections() {
  need curl
  need perl
  make plain t
  serve_freely t
  local port=${url#http://127.0.0.1:} i asking=()
  let_strangers_in "${port%/}"
  gets 200 metrics
  for i in {1..20}; do
    curl -s -m 60 -o "body.$i" -w '%{http_code}\n' "${url}debug/pprof/heap" >"status.$i" &
    asking+=($!)
  done
  wait "${asking[@]}"
  [ "$(cat status.* | sort | uniq -c | tr -d ' ')" = 20200 ] || fail "statuses: $(cat status.*)"
  kill "$strangers"
  end_view
}

# More connections than there are places for requests, each of which stays open behind its answer.
connections_without_a_request_hold_no_place() {
  need curl
  need perl
  make plain t
  serve_freely t
  local port=${url#http://127.0.0.1:} tries
  perl -MIO::Socket::INET -e '
    my $port = shift; $| = 1;
    for (1 .. 40) {
      my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) or die "no connection";
      print $socket "POST /debug/pprof/symbol HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nContent-Length: 3\r\n\r\n0x1"; $socket->flush;
      my $line = <$socket>; print $line; push @open, $socket;
    }
    print "open\n"; sleep 60;' "${port%/}" >asked 2>&1 &
  local asking=$!
  for ((tries = 0; tries < 300; tries++)); do grep -q open asked 2>/dev/null && break; sleep 0.1; done
  [ "$(grep -c '^HTTP/1.1 200' asked)" = 40 ] || fail "answers: $(cat asked)"
  gets 200 metrics
  kill "$asking"
  end_view
}

serving_survives_nonsense() {
  need curl
  need perl
  make plain t
  serve_freely t
  local port=${url#http://127.0.0.1:} tries
  nonsense "${port%/}" /debug/pprof/heap /debug/pprof/delta_heap /metrics /page / '?' '&' seconds= debug=1 pid= client= service= token= %00 %2 9 18446744073709551616 \
    /debug/pprof/symbol 0x1+0x HEAD\ 
  kill -0 $server 2>/dev/null || fail "the server has crashed: $(cat complaints)"
  for ((tries = 0; tries < 30; tries++)); do
    [ "$(curl -s -m 5 -o body -w '%{http_code}' "${url}metrics")" = 200 ] && break
    sleep 0.5
  done
  gets 200 metrics
  end_view
}
