# winnow view; sourced by run.
# shellcheck shell=bash disable=SC2154

# Waits until the server `server` says its address, and leaves it in `url`.
wait_for_address() { # PATTERN
  local tries
  for ((tries = 0; tries < 300; tries++)); do
    url=$(grep -Eo "^$1" served 2>/dev/null) && return
    if ! kill -0 $server 2>/dev/null; then
      # Between a program and the one that it execs there may be no trace.
      grep -q 'no trace in it yet' complaints || fail "the server ended: $(cat complaints)"
      start_view
    fi
    sleep 0.1
  done
  fail "no address: $(cat served complaints)"
}

start_view() {
  rm -f served # that of an earlier server
  "$winnow" view --no-open "${view_arguments[@]}" >served 2>complaints &
  server=$!
}

# Starts the server in the background; leaves its address in `url`, up to the token's slash, and its process in `server`.
view() { # ARGUMENT...
  view_arguments=("$@")
  start_view
  trap 'kill $server 2>/dev/null; cd /; rm -rf "$work"' EXIT
  wait_for_address 'http://[^/ ]+:[0-9]+/[0-9a-f]{32}/'
}

# Ends the server. Not by INT, which a shell has its background jobs ignore.
end_view() {
  kill -TERM $server
  wait $server
  code=$?
  [ $code = 0 ] && [ ! -s complaints ] || fail "the server ended with code $code: $(cat complaints)"
}

status() { # STATUS CURL-ARGUMENT...
  local wanted=$1 got
  shift
  got=$(curl -s -m 20 -o body -w '%{http_code}' "$@")
  [ "$got" = "$wanted" ] || fail "status $got, not $wanted: curl $*"
  [ "$wanted" = 200 ] || [ ! -s body ] || fail "a refusal tells something: $(head -c 200 body)"
}

the_server_answers_as_the_command_does() {
  need curl
  make collected t
  view t
  status 200 "$url"
  cmp -s <(grep -c 'meta name="winnow-server"' body) <(echo 1) || fail "the page does not know its server"
  ! grep -q "connect-src 'none'" body || fail "the page may not connect"
  ! grep -q '<script[^>]* data-section=' body || fail "the page has the recording"
  local request
  for request in view=head $'view=flame\nwhere=size > 10\nmeasure=alive' $'view=table\nby=line' view=kinds view=; do
    printf '%s\n' "$request" >request
    status 200 --data-binary @request "${url}answer"
    printf '%s\n\n' "$request" | "$build/tests/page/page_ask" t | cmp - body || fail "another answer: $request"
  done
  end_view
}

the_server_compares_two_runs() {
  need curl
  make plain before
  make named t
  view before t
  grep -q ' shows t compared with before; ' served || fail "$(cat served)"
  status 200 "$url"
  grep -q 'As text: winnow diff before t<' body || fail 'without scripts the page does not name both'
  local request
  for request in view=head $'view=compare\nagainst=before\nmeasure=allocated' $'view=flame\nwhere=size > 10\nagainst=before' $'view=compare\nagainst=1ms'; do
    printf '%s\n' "$request" >request
    status 200 --data-binary @request "${url}answer"
    printf '%s\n\n' "$request" | "$build/tests/page/page_ask" t before | cmp - body || fail "another answer: $request"
  done
  end_view
}

the_server_shows_source_lines_if_asked_for() {
  need curl
  make named t
  "$winnow" report --json --by file t | grep -q of_one_word.cc || skip "the tiny build cuts names of files"
  mkdir sources
  seq -f 'secret %.0f' 1 400 >sources/and_a_file_with_a_name_of_one_word.cc
  local request
  for request in view=head $'view=source\nmeasure=allocated\nof=main'; do
    printf '%s\n' "$request" >request
    view --source --search sources t
    status 200 --data-binary @request "${url}answer"
    end_view
    printf '%s\n\n' "$request" | "$build/tests/page/page_ask" -s sources t | cmp - body || fail "another answer: $request"
    grep -aq 'secret 1"\|"source_files": 1' body || fail "no source lines: $(cat body)"
    view --search sources t
    status 200 --data-binary @request "${url}answer"
    end_view
    ! grep -aq 'secret\|"source_files": 1' body || fail "lines that nobody asked for: $(cat body)"
  done
}

the_server_refuses_strangers() {
  need curl
  make plain t
  view t
  local base=${url%/*/} port=${url#http://127.0.0.1:} bad
  port=${port%%/*}
  echo view=head >request
  for bad in "$base" "$base/" "${url%/}" "${url}x" "${url}answer" "$base/00000000000000000000000000000000/" "${url}../../etc/passwd" \
    "${url}%2e%2e/%2e%2e/etc/passwd" "$base//etc/passwd"; do
    status 404 --path-as-is "$bad"
  done
  status 404 -X DELETE "$url"
  status 404 --data-binary @request "$base/00000000000000000000000000000000/answer"
  status 403 -H 'Host: example.com' "$url"
  status 403 -H "Host: 127.0.0.1.example.com:$port" "$url"
  status 403 -H 'Origin: http://example.com' --data-binary @request "${url}answer"
  status 403 -H 'Origin: null' --data-binary @request "${url}answer"
  status 200 -H "Host: localhost:$port" "$url"
  status 200 -H "Origin: http://127.0.0.1:$port" --data-binary @request "${url}answer"
  head -c 1100000 /dev/zero | tr '\0' x >huge
  status 413 -H 'Expect: 100-continue' --expect100-timeout 20 --data-binary @huge "${url}answer" # before the body is sent
  yes $'view=head\n' | head -n 34 >many
  status 413 --data-binary @many "${url}answer"
  refused 1 "cannot listen on 127.0.0.1:$port: " view --no-open --port "$port" t
  end_view
  run view --no-open --port "$port" nothing
  [ "$code" = 1 ] || fail "code $code"
}

addresses_to_listen_on_are_understood() {
  need curl
  make plain t
  local port bad
  if grep -q . /proc/net/if_inet6 2>/dev/null; then
    for address in ::1 0:0:0:0:0:0:0:1; do
      view --listen $address t
      [[ $url = http://\[::1\]:* ]] || fail "not as browsers name it: $url"
      port=${url#*\]:} port=${port%%/*}
      status 200 -g "$url"
      status 200 -g -H "Host: localhost:$port" "$url"
      for bad in "[::2]:$port" "::1:$port" "[::1]" "[::1]:1" "127.0.0.1:$port" "[::1]:$port.example.com" "[::1"; do
        status 403 -g -H "Host: $bad" "$url"
      done
      end_view
    done
  fi
  view --listen 127.0.0.2 t
  [[ $url = http://127.0.0.2:* ]] || fail "not the address: $url"
  status 200 "$url"
  end_view
  view --listen 0.0.0.0 t
  [[ $url = http://127.0.0.1:* ]] || fail "no address to open: $url"
  port=${url#http://127.0.0.1:} port=${port%%/*}
  status 200 "$url"
  status 200 -H "Host: 192.0.2.7:$port" "$url"
  status 403 -H "Host: example.com:$port" "$url"
  grep -q '^winnow: everybody who can reach this machine and knows the page.s address sees the trace;' complaints ||
    fail "no warning: $(cat complaints)"
  refused 1 "^winnow: cannot listen on 127.0.0.1:$port: address already in use; give another port, or none$" \
    view --no-open --port "$port" t
  : >complaints
  end_view
  refused 1 '^winnow: cannot listen on 192.0.2.1: cannot assign requested address; it is no address of this machine$' \
    view --no-open --listen 192.0.2.1 t
  for bad in localhost '[::1]' 127.1 '' 1.2.3.4.5 ::g; do
    refused 2 'it must be an IP address of this machine, such as 127.0.0.1 or ::1' view --no-open --listen "$bad" t
  done
  for bad in -1 65536 x '' 1x; do refused 2 'it must be a number from 0 to 65535' view --no-open --port "$bad" t; done
}

slow_strangers_do_not_shut_the_owner_out() {
  need curl
  need perl
  make plain t
  view t
  let_strangers_in "$(echo "$url" | grep -Eo ':[0-9]+/' | tr -d :/)"
  echo view=head >request
  status 200 "$url"
  status 200 --data-binary @request "${url}answer"
  kill "$strangers"
  end_view
}

# Random bytes, cut, slow and half-closed requests, side by side: pieces of requests that are nearly right, at a port.
nonsense() { # PORT PIECE...
  perl -MIO::Socket::INET -e '
    my $port = shift; srand 7; my $end = time + 4;
    my @parts = (@ARGV, "GET ", "POST ", " HTTP/1.1\r\n", "Host: 127.0.0.1:$port\r\n", "Content-Length: ",
      "99999999999", "-1", "\r\n", "\r\n\r\n", "Transfer-Encoding: chunked\r\n", "ffffffff\r\n", "\0" x 50, "A" x 5000, "X: y\r\n" x 200);
    while (time < $end) {
      my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port, Timeout => 2) or next;
      my $text = join "", map { rand() < .8 ? $parts[rand @parts] : pack("C*", map { int rand 256 } 1 .. rand 40) } 1 .. 1 + rand 12;
      $SIG{PIPE} = "IGNORE"; print $socket $text; $socket->flush; shutdown $socket, int rand 3 if rand() < .3;
      syswrite $open[rand @open], "a" if @open; push @open, $socket; shift @open if @open > 20; }' "$@" 2>/dev/null
}

# Connections that send nothing whole, more than there are places for strangers; leaves their process in `strangers`.
let_strangers_in() { # PORT
  local tries
  perl -MIO::Socket::INET -e '
    my $port = shift; $| = 1;
    for (1 .. 100) {
      my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) or die "no connection";
      syswrite $socket, "GET / HTTP/1.1\r\nX: "; push @open, $socket;
    }
    print "open\n"; sleep 60;' "$1" >open 2>&1 &
  strangers=$!
  for ((tries = 0; tries < 300; tries++)); do grep -q open open 2>/dev/null && return; sleep 0.1; done
  fail "the strangers cannot connect: $(cat open)"
}

# Afterwards the server still answers.
the_server_survives_nonsense() {
  need curl
  need perl
  make plain t
  view t
  local port path=/${url#http://*/}
  port=${url#http://127.0.0.1:} port=${port%%/*}
  nonsense "$port" "$path" "${path}answer" "${path}events" $'view=head\n'
  kill -0 $server 2>/dev/null || fail "the server has crashed: $(cat complaints)"
  echo view=head >request
  local tries
  for ((tries = 0; tries < 30; tries++)); do # until the connections that nothing comes from are closed
    [ "$(curl -s -m 5 -o body -w '%{http_code}' --data-binary @request "${url}answer")" = 200 ] && break
    sleep 0.5
  done
  status 200 --data-binary @request "${url}answer"
  end_view
}

# Follows a program to its end. The last answer, of the whole trace, is left in `body`.
follow_command() { # COMMAND ARGUMENT-OF-VIEW...
  local command=$1
  shift
  need curl
  need_recording
  cat >grow.pl <<'PROGRAM'
$| = 1; for my $round (1 .. 30) { push @kept, "x" x 2000 for 1 .. 300; select undef, undef, undef, 0.1 }
PROGRAM
  need perl
  rm -f t # that of an earlier run
  # shellcheck disable=SC2086 # words of the command
  "$winnow" record --rate 1e-3 -o t -- $command 2>recorded &
  local program=$! tries
  for ((tries = 0; tries < 100; tries++)); do [ -s t ] && "$winnow" info t >/dev/null 2>&1 && break; sleep 0.05; done
  view "$@" t
  curl -s -N "${url}events" >events &
  local listener=$!
  wait $program
  for ((tries = 0; tries < 200; tries++)); do grep -q 'data: ended' events && break; sleep 0.1; done
  kill $listener
  [ "$(grep -c growing events)" -ge 1 ] || fail "a growing trace is not told to grow: $(cat events)"
  grep -q 'data: ended' events || fail "the end is not told: $(tail -n 3 events)"
  echo view=head >request
  status 200 --data-binary @request "${url}answer"
  grep -aq '"complete": true' body || fail "the last state is not that of the end: $(head -c 900 body)"
  end_view
}

follow() { follow_command 'perl grow.pl' "$@"; } # ARGUMENT-OF-VIEW...

the_server_follows_a_running_program() {
  need_many_blocks
  follow
}

# The answers in `body`: each as its state, a tab, and its JSON.
# The file is the same as before: only its lock is gone.
the_server_says_that_memory_probably_ran_out_once_nothing_writes() {
  need curl
  need flock
  need jq
  make killed_probably t
  flock t sh -c 'touch locked; while [ ! -e go ]; do sleep 0.05; done' &
  local writer=$! tries listener
  for ((tries = 0; tries < 200; tries++)); do [ -e locked ] && break; sleep 0.05; done
  view --no-symbols t
  ask view=head
  answer_text | jq -e '.trace.probably_killed_for_memory == false' >/dev/null || fail "killed while it is written: $(head -c 900 body)"
  curl -s -N "${url}events" >events &
  listener=$!
  for ((tries = 0; tries < 200; tries++)); do grep -q 'data: growing' events 2>/dev/null && break; sleep 0.1; done
  touch go
  wait $writer
  for ((tries = 0; tries < 200; tries++)); do grep -q 'data: ended' events && break; sleep 0.1; done
  kill $listener
  ask view=head
  answer_text | jq -e '.trace.probably_killed_for_memory' >/dev/null || fail "not killed: $(cat events) $(head -c 900 body)"
  end_view
}

answers_of_body() {
  perl -e '
    local $/; my $body = <STDIN>;
    for (my $at = 0; $at < length $body;) {
      my ($size, $length, $state) = unpack "x$at V3", $body;
      print "$state\t", substr($body, $at + 12, $length) =~ tr/\n/ /r, "\n";
      $at += 4 + $size;
    }' <body
}

# While another client asks all the time, which delays each answer beyond the life of a state.
answers_to_one_post_are_of_one_state() {
  need_many_blocks
  need curl
  need jq
  need perl
  need_recording
  echo '$| = 1; for (1 .. 600) { last if -e "end"; push @kept, "x" x 2000 for 1 .. 300; select undef, undef, undef, 0.05 }' >grow.pl
  "$winnow" record --rate 1e-3 -o t -- perl grow.pl 2>recorded &
  local program=$! tries states=0 last=0 state
  for ((tries = 0; tries < 100; tries++)); do [ -s t ] && "$winnow" info t >/dev/null 2>&1 && break; sleep 0.05; done
  view t
  printf 'view=head\n\nview=table\nby=line\nmeasure=allocated\n\nview=totals\nwhere=at = end\n\nview=nothing\n\nview=time\n\n' >several
  printf 'view=flame\nby=line\nwhere=size > 1\n' >other
  while curl -s -o other_body --data-binary @other "${url}answer"; do :; done &
  local load=$!
  while ((states < 5)); do
    status 200 --data-binary @several "${url}answer"
    answers_of_body >answers
    [ "$(wc -l <answers)" = 5 ] || fail "5 questions: $(cut -c -200 answers)"
    state=$(cut -f 1 answers | uniq)
    [[ $state = [1-9]* && $state != *$'\n'* ]] || fail "not one state: $state"
    ((state >= last)) || fail "state $state after $last"
    ((state == last)) || ((++states))
    last=$state
    cut -f 2 answers | jq -se '.[0].trace.duration_ns == .[2].at_ns and .[3].error' >/dev/null ||
      fail "not of one moment: $(cut -c -400 answers)"
  done
  touch end
  wait $program
  kill $load
  wait $load 2>/dev/null
  end_view
}

# Memtrace holds a lock of fcntl while it writes.
the_server_follows_a_program_that_writes_with_memtrace() {
  need curl
  need jq
  need perl
  "$build/tests/cli/make_memtrace" m 3000 2 || fail "no Memtrace file"
  cat >writing <<'END'
use Fcntl;
open(my $from, '<:raw', 'm') or die;
open(my $to, '+>:raw', 't') or die;
my $lock = pack('s s x4 q q l x4', F_WRLCK, 0, 0, 0, 0);
fcntl($to, F_SETLK, $lock) or die;
local $/ = \40000; # bytes at a time, which end inside a packet
for (my $part = 0; <$from>; $part++) {
  syswrite $to, $_;
  select undef, undef, undef, 0.1 until $part || -e 'go_on';
}
select undef, undef, undef, 0.1 until -e 'end';
END
  perl writing &
  local program=$! tries
  for ((tries = 0; tries < 100; tries++)); do [ -s t ] && "$winnow" info t >/dev/null 2>&1 && break; sleep 0.05; done
  view t
  ask view=head
  local first
  first=$(answer_text | jq .trace.samples)
  curl -s -N "${url}events" >events &
  local listener=$!
  touch go_on
  for ((tries = 0; tries < 200; tries++)); do grep -q 'data: growing' events && break; sleep 0.1; done
  touch end
  wait $program
  for ((tries = 0; tries < 200; tries++)); do grep -q 'data: ended' events && break; sleep 0.1; done
  kill $listener
  grep -q 'data: ended' events || fail "the end is not told: $(tail -n 3 events)"
  ask view=head
  local last all
  last=$(answer_text | jq .trace.samples)
  all=$("$winnow" report --json m | jq .trace.samples)
  [ "$last" = "$all" ] && [ "$first" -lt "$last" ] || fail "$first samples, then $last of $all"
  end_view
}

# The shell that is recorded first becomes env, and env perl; the server is started while the shell runs, and while perl does.
the_server_follows_a_process_through_exec() {
  need_many_blocks
  need jq
  local pause
  for pause in 1 0; do
    echo "sleep $pause; exec env perl grow.pl" >wrapper
    follow_command 'sh wrapper'
    answer_text | jq -e '.trace.command == ["perl", "grow.pl"]' >/dev/null ||
      fail "not the program that did the work, after $pause s: $(answer_text | head -c 900)"
  done
}

# It has fewer samples than the bound when the server begins.
a_trace_that_grows_beyond_the_bound_is_shown_in_part() {
  need_many_blocks
  need jq
  follow --samples 1000
  ! grep -q ' 1 of ' served || fail "it is large already: $(cat served)"
  [ "$("$winnow" report --json t | jq .trace.samples)" -gt 1200 ] || skip "few samples are recorded in this build"
  answer_text | jq -e '.kept > 0.02 and .kept < 0.9' >/dev/null || fail "not a part: $(answer_text)"
}

ask() { # REQUEST
  printf '%s\n' "$1" >request
  status 200 --data-binary @request "${url}answer"
}

# The JSON of the answer in `body`.
answer_text() { tail -c +13 body | head -c "$(od -An -tu4 -j4 -N4 body)"; }

# As many samples as wanted are kept, and 99 % intervals around what they say hold what the whole trace says.
large_traces_are_shown_in_part() {
  need curl
  need jq
  make many t 60000
  view --samples 2000 t
  grep -Eq 'shows 1 of (29|30|31) samples of t; intervals are wider \(--samples all shows all\); Ctrl-C ends it$' served ||
    fail "the part is not told: $(cat served)"
  ask view=head
  answer_text | jq -e '.kept > 0.02 and .kept < 0.04' >/dev/null || fail "the page is not told: $(answer_text)"
  local part
  ask view=totals
  part=$(answer_text)
  end_view
  view --samples all t
  ! grep -q 'intervals are wider' served || fail "a part is shown: $(cat served)"
  ask view=totals
  jq -ne --argjson part "$part" --argjson all "$(answer_text)" '
    [("allocated_bytes", "live_at_end_bytes", "peak_bytes") as $total
     | ($part.totals[$total]) as $of | (($of.high - $of.low) * 0.66) as $apart
     | $of.estimate - $apart <= $all.totals[$total].estimate and $all.totals[$total].estimate <= $of.estimate + $apart] | all' >/dev/null ||
    fail "the totals of the part and of all samples differ: $part $(answer_text)"
  end_view
  refused 2 'it must be all, or a number from 1000 to 1G' view --samples 12 t
  refused 2 'it must be all, or a number from 1000 to 1G' view --samples many t
}

# Starts the server on a terminal, with the programs of the folder `bin` alone and these variables; waits until it has
# printed its address.
view_on_terminal() { # VARIABLE=VALUE...
  local tries
  rm -f typescript pid opened
  printf '%q ' env -u DISPLAY -u WAYLAND_DISPLAY "$@" PATH="$PWD/bin" "$winnow" view t >command
  printf 'exec ' | cat - command >started
  script -qefc 'bash -c "echo \$\$ >pid; . ./started"' typescript >/dev/null </dev/null &
  terminal=$!
  for ((tries = 0; tries < 300; tries++)); do
    grep -aq 'Ctrl-C ends it' typescript 2>/dev/null && server=$(cat pid) && return
    sleep 0.1
  done
  fail "no address: $(cat typescript)"
}

leave_terminal() {
  kill -TERM "$server"
  wait $terminal || fail "the server ended with code $?: $(cat typescript)"
}

wait_for_opened() {
  local tries
  for ((tries = 0; tries < 100; tries++)); do
    [ -s opened ] && return
    sleep 0.1
  done
  fail "xdg-open did not run: $(cat typescript)"
}

the_page_opens_where_there_is_a_desktop() {
  need script
  make plain t
  mkdir bin
  # It tells what it was given and its session, and runs on, as a browser does.
  cat >bin/xdg-open <<END
#!/bin/bash
read -r _ _ _ _ _ session _ </proc/self/stat
printf '%s\n' "\$#" "\$1" "\$session" "\$(readlink /proc/self/fd/0)" >$PWD/opening
mv $PWD/opening $PWD/opened
exec sleep 30
END
  sed -i "s|readlink|$(command -v readlink)|; s|^mv|$(command -v mv)|; s|sleep 30|$(command -v sleep) 30|" bin/xdg-open
  chmod +x bin/xdg-open
  local set
  for set in DISPLAY=:7 WAYLAND_DISPLAY=wayland-7; do
    view_on_terminal $set
    wait_for_opened
    [ "$(sed -n 1p opened)" = 1 ] && grep -aqF "$(sed -n 2p opened) shows t" typescript || fail "it was given $(cat opened)"
    [ "$(sed -n 3p opened)" != "$(ps -o sid= -p "$server" | tr -d ' ')" ] || fail "Ctrl-C would end the browser"
    [ "$(sed -n 4p opened)" = /dev/null ] || fail "it reads from the terminal"
    pkill -s "$(sed -n 3p opened)" || fail "xdg-open has ended"
    leave_terminal
  done
  view_on_terminal NOTHING=1
  sleep 0.5
  [ ! -e opened ] || fail "it opened a page without a desktop"
  leave_terminal
  view --port 0 t # standard output is no terminal
  sleep 0.3
  [ ! -e opened ] || fail "it opened a page for a script"
  end_view
}

a_desktop_that_cannot_open_pages_is_no_fault() {
  need script
  make plain t
  mkdir bin
  view_on_terminal DISPLAY=:7 # there is no xdg-open
  leave_terminal
  printf '#!/bin/false\n' >bin/xdg-open
  chmod +x bin/xdg-open
  view_on_terminal DISPLAY=:7
  sleep 0.3
  [ "$(tr -d '\r' <typescript | grep -ac '^http://')" = 1 ] && ! grep -aqi 'xdg' typescript || fail "$(cat typescript)"
  leave_terminal
}
