# winnow ship; sourced by run. All combinations of faults are tried by test_shipper.
# shellcheck shell=bash disable=SC2154

# Starts the server that stands for ClickHouse; it is started anew when it has died. Leaves its address in `url`.
begin_database() {
  need perl
  mkdir -p db
  : >db/plan
  export no_proxy=127.0.0.1
  (
    trap 'kill $! 2>/dev/null; exit' TERM
    while :; do perl "$source/tests/cli/clickhouse.pl" db & wait; done
  ) 2>complaints &
  database=$!
  trap 'kill $database 2>/dev/null; cd /; rm -rf "$work"' EXIT
  local tries
  for ((tries = 0; tries < 200; tries++)); do [ -s db/port ] && break; sleep 0.05; done
  [ -s db/port ] || fail "no server: $(cat complaints)"
  url=http://127.0.0.1:$(cat db/port)
}

plan() { printf '%s\n' "$@" >>db/plan; }

# Ships until it is not killed any more; leaves out, err and code.
ship() { # ARGUMENT...
  local process
  : >err
  for ((;;)); do
    "$winnow" ship --to "$url" "$@" >out 2>>err 7>&- 8<&- &
    process=$!
    echo $process >db/pid.new
    mv db/pid.new db/pid
    wait $process 2>/dev/null
    code=$?
    [ $code = 137 ] || break
  done
}

ships() { # ARGUMENT...
  ship --once "$@"
  [ "$code" = 0 ] || fail "winnow ship $*: code $code: $(cat err)"
  [ ! -s db/plan ] || fail "not all of the plan came: $(cat db/plan)"
}

# The rows that are there, each file under its name without the number of the insertion.
copy_rows() { # FOLDER
  local file
  mkdir "$1"
  for file in db/rows/samples.* db/rows/loads.*; do cp "$file" "$1/$(basename "${file%.*}")"; done
  [ -z "$(find db/rows -name 'samples.*.[1-9]*' -o -name 'loads.*.[1-9]*')" ] || fail "rows are there twice: $(ls db/rows)"
}

# Ships a trace as planned, and then compares with what a shipment without faults leaves.
same_rows_are_there() { # PLAN...
  make slow t 450 # 16 windows
  begin_database
  ships t
  says '^winnow: shipped 16 windows of 1 recording, [0-9,]+ rows'
  [ ! -s err ] || fail "complaints: $(cat err)"
  copy_rows whole
  [ "$(find whole -name 'samples.*' | wc -l)" = "$(find whole -name 'loads.*' | wc -l)" ] || fail "$(ls whole)"
  rm -r db/rows/*
  plan "$@"
  ships t
  copy_rows rows
  diff -r whole rows >differences || fail "$(cat differences)"
}

rows_are_there_once_though_replies_are_lost() {
  same_rows_are_there 'sites 503' 'samples drop' 'loads ok' 'samples late' 'loads ok' 'samples cut' 'select nonsense' 'loads ok' \
    'samples nonsense' 'loads drop' 'loads ok' 'loads late' 'loads ok' 'loads cut'
  [ "$(grep -c 'cannot ship' err)" = 1 ] && [ "$(grep -c "ships to $url again" err)" = 1 ] && [ "$(wc -l <err)" = 2 ] || fail "not two lines: $(cat err)"
  grep -qF "winnow: cannot ship to $url: HTTP 503: DB::Exception: planned ?[31m" err || fail "$(cat err)"
}

rows_are_there_once_though_the_server_dies() {
  same_rows_are_there 'stacks die_after' 'loads ok' 'samples die' 'loads ok' 'samples die_after' 'loads ok' 'loads die' 'loads ok' 'loads die_after'
}

rows_are_there_once_though_the_shipper_is_killed() {
  same_rows_are_there 'frames kill' 'stacks kill_after' 'samples kill' 'samples kill_after' 'loads kill' 'loads kill_after'
}

what_is_there_is_not_shipped_again() {
  make slow t 100
  make slow other 31
  begin_database
  ships t other
  says 'shipped [0-9]+ windows of 2 recordings'
  : >db/log
  ships t other
  says '^winnow: shipped 0 windows of 0 recordings, 0 rows'
  [ "$(grep -c '^POST' db/log)" = 2 ] || fail "more than a question for each: $(grep ^POST db/log)"
  rm db/rows/loads.*
  ships t other
  says 'shipped [0-9]+ windows of 2 recordings'
  copy_rows rows
}

of_several_servers_a_host_has_one() {
  make slow t 100
  begin_database
  local first=$url order n=0
  for order in "--to $first --to ${first/127.0.0.1/localhost}" "--to ${first/127.0.0.1/localhost} --to $first"; do
    rm -rf db/rows/* db/log
    # shellcheck disable=SC2086
    "$winnow" ship $order --once t >out 2>err || fail "$(cat err)"
    grep -i '^host:' db/log | sort -u >"host.$n"
    n=$((n + 1))
  done
  [ "$(wc -l <host.0)" = 1 ] && cmp -s host.0 host.1 || fail "$(cat host.*)"
}

shipping_needs_what_it_needs() {
  make plain t
  local value
  refused 2 'where to' ship t
  for value in x ftp://x 'http://' 'http://:8123' 'http:///x' 'https://a?b=c' 'http://a b' 'http://a#b'; do refused 2 '--to: it must be' ship --to "$value" t; done
  refused 2 'use --user and --password-file' ship --to http://name:secret@host:8123 t
  ! grep -q secret err || fail "the password is repeated"
  refused 2 '--ca none: it cannot be read' ship --to http://127.0.0.1:9 --ca none t
  refused 1 'cannot open none' ship --to http://127.0.0.1:9 --password-file none t
  echo secret >password
  chmod 644 password
  refused 1 'others can read' ship --to http://127.0.0.1:9 --password-file password t
  chmod 600 password
  refused 1 'nothing: No such file' ship --to http://127.0.0.1:9 --once nothing
  begin_database
  refused 1 "HTTP 404: DB::Exception: Database other doesn't exist; 'winnow fleet init' prints the tables" ship --to "$url" --database other --once t
  plan 'frames 302'
  refused 1 'HTTP 302' ship --to "$url" --once t
  plan 'select large'
  refused 1 'its answer is too large' ship --to "$url" --once t
  echo name:secret >db/user
  truncate -s -1 db/user
  refused 1 'HTTP 401: DB::Exception: Wrong password' ship --to "$url" --once --user name t
  refused 1 'HTTP 401' ship --to "$url" --once --user other --password-file password t
  : >db/log
  http_proxy=http://127.0.0.1:9 no_proxy= ships --user name --password-file password t
  ! grep '^POST' db/log | grep secret || fail "the password is in a URL"
  echo x >libcurl.so.4
  cp libcurl.so.4 libcurl-gnutls.so.4
  LD_LIBRARY_PATH=. refused 1 'libcurl4' ship --to "$url" --once t
  LD_LIBRARY_PATH=. succeeds info t
}

shipping_verifies_certificates() {
  need openssl
  make plain t
  openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key -out certificate -days 2 2>/dev/null || fail "no certificate"
  openssl s_server -quiet -accept 127.0.0.1:0 -key key -cert certificate -www >/dev/null 2>&1 &
  server=$!
  trap 'kill $server 2>/dev/null; cd /; rm -rf "$work"' EXIT
  local tries port
  for ((tries = 0; tries < 100; tries++)); do
    port=$(ss -ltnp 2>/dev/null | sed -n "s/.*127.0.0.1:\([0-9]*\) .*pid=$server,.*/\1/p")
    [ -n "$port" ] && break
    sleep 0.05
  done
  [ -n "$port" ] || skip "the port of the server is not known"
  export no_proxy='*'
  refused 1 'certificate' ship --to "https://localhost:$port" --once t
  refused 1 'certificate|subject name|host name' ship --to "https://127.0.0.1:$port" --ca certificate --once t
}

# Windows of a process that goes on, and its last one when it has ended; and the end by a signal.
shipping_follows_a_process() {
  need_recording
  begin_database
  begin_obeying
  trap 'kill $database $program 2>/dev/null; cd /; rm -rf "$work"' EXIT
  order alloc 10 1000 0
  ships t
  says 'shipped 0 windows|shipped 1 window' # a window may have ended meanwhile
  "$winnow" ship --to "$url" t >shipped 2>complaints 7>&- 8<&- &
  shipper=$!
  trap 'kill $database $shipper $program 2>/dev/null; cd /; rm -rf "$work"' EXIT
  order free 5
  sleep 0.5
  kill $shipper
  wait $shipper || fail "code $? by a signal: $(cat complaints)"
  [ ! -s shipped ] && [ ! -s complaints ] || fail "output: $(cat shipped complaints)"
  end_obeying
  ships t
  says 'shipped [1-9] window'
  copy_rows rows
  grep -aq obeys rows/samples.* || fail "no service"
  rm -r db/rows/*
  ships --service shop --release 1.2.3 t
  grep -aq shop.1.2.3 db/rows/samples.* || fail "no labels"
}

shipping_twice_at_once_inserts_once() {
  make slow t 450 # 16 windows
  begin_database
  local try codes tries
  for try in 1 2 3; do
    "$winnow" ship --to "$url" --once t >out.1 2>err.1 &
    local one=$! two
    "$winnow" ship --to "$url" --once t >out.2 2>err.2 &
    two=$!
    wait $one
    codes=$?
    wait $two
    codes=$codes$?
    [ "$(cat err.1 err.2 | grep -vc '^winnow: t: another winnow ship ships it$')" = 0 ] || fail "$(cat err.1 err.2)"
    [[ $codes == 0[01] || $codes == 10 ]] || fail "codes $codes: $(cat err.1 err.2)"
    copy_rows "rows.$try"
    [ "$(find db/rows -name 'loads.*' | wc -l)" = 16 ] || fail "$(ls db/rows)"
    rm -r db/rows/*
  done
  # One that waits for the server has the recording until it is killed.
  plan 'frames 503' 'frames 503' 'frames 503' 'frames 503' 'frames 503'
  "$winnow" ship --to "$url" t >out.1 2>err.1 &
  waiting=$!
  trap 'kill $waiting $database 2>/dev/null; cd /; rm -rf "$work"' EXIT
  for ((tries = 0; tries < 200; tries++)); do grep -q cannot err.1 && break; sleep 0.05; done
  ship --once t
  [ "$code" = 1 ] || fail "code $code"
  grep -qx 'winnow: t: another winnow ship ships it' err && [ "$(wc -l <err)" = 1 ] || fail "$(cat err)"
  kill -KILL $waiting
  wait $waiting 2>/dev/null
  : >db/plan
  ships t
  copy_rows rows
  diff -r rows.1 rows >differences || fail "$(cat differences)"
}

# The lock of what writes the trace is another one.
shipping_locks_what_is_written() {
  need_recording
  begin_database
  begin_obeying
  trap 'kill $database $program 2>/dev/null; cd /; rm -rf "$work"' EXIT
  order alloc 10 1000 0
  "$winnow" ship --to "$url" t >out.1 2>err.1 7>&- 8<&- &
  shipper=$!
  trap 'kill $database $shipper $program 2>/dev/null; cd /; rm -rf "$work"' EXIT
  local tries
  for ((tries = 0; tries < 200; tries++)); do grep -q ":$(stat -c %i t/*.trace) $(((1 << 61) + 2)) " /proc/locks && break; sleep 0.05; done
  ship --once t
  [ "$code" = 1 ] && grep -qx 'winnow: t/.*: another winnow ship ships it' err || fail "$code: $(cat err)"
  kill $shipper
  wait $shipper
  [ ! -s err.1 ] || fail "$(cat err.1)"
  end_obeying
  ships t
  says 'shipped [1-9] window'
}

a_signal_ends_a_wait() {
  make plain t
  begin_database
  plan 'frames 503' 'frames 503' 'frames 503' 'frames 503' 'frames 503'
  "$winnow" ship --to "$url" --once t >out 2>err &
  local shipper=$! tries
  for ((tries = 0; tries < 200; tries++)); do grep -q cannot err && break; sleep 0.05; done
  kill -TERM $shipper
  wait $shipper
  [ $? = 1 ] || fail "$(cat err)"
}

# A server of ClickHouse itself, with a folder of its own; leaves its process in `clickhouse`, its address in `url`.
begin_clickhouse() {
  mkdir -p house/tmp
  local port tries
  if [ ! -e house/config.xml ]; then
    port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
    cat >house/config.xml <<END
<yandex>
  <logger><level>warning</level><log>$PWD/house/log</log><errorlog>$PWD/house/errors</errorlog></logger>
  <http_port>$port</http_port><listen_host>127.0.0.1</listen_host>
  <path>$PWD/house/</path><tmp_path>$PWD/house/tmp/</tmp_path>
  <users_config>$PWD/house/users.xml</users_config><default_profile>default</default_profile>
  <default_database>default</default_database><mark_cache_size>5000000</mark_cache_size>
</yandex>
END
    cat >house/users.xml <<'END'
<yandex>
  <profiles><default></default></profiles><quotas><default></default></quotas>
  <users><ship><password>a secret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></ship></users>
</yandex>
END
    url=http://127.0.0.1:$port
  fi
  clickhouse-server "--config-file=$PWD/house/config.xml" >house/out 2>&1 &
  clickhouse=$!
  trap 'kill -KILL $clickhouse 2>/dev/null; wait $clickhouse 2>/dev/null; cd /; rm -rf "$work"' EXIT
  export no_proxy=127.0.0.1
  for ((tries = 0; tries < 400; tries++)); do
    curl -s -o /dev/null "$url" && return
    kill -0 $clickhouse 2>/dev/null || fail "no server: $(tail -n 5 house/out house/errors 2>/dev/null)"
    sleep 0.05
  done
  fail "the server does not answer"
}

# Leaves the answer in `answer`.
asks() { # QUERY
  answer=$(curl -sS --fail-with-body -H 'X-ClickHouse-User: ship' -H 'X-ClickHouse-Key: a secret' --data-binary "$1" "$url/?database=$database") || fail "$1: $answer"
}

says_clickhouse() { # ANSWER QUERY
  asks "$2"
  [ "$answer" = "$1" ] || fail "$2: $answer, not $1"
}

clickhouse_has_each_row_once() {
  need clickhouse-server
  need curl
  need jq
  need perl
  begin_clickhouse
  local statement total shipper count database
  succeeds fleet init
  database=default
  while read -r -d ';' statement; do asks "$statement"; done <out
  database=winnow
  echo 'a secret' >password
  chmod 600 password
  make slow t 450
  local options=(ship --to "$url" --user ship --password-file password --once t)
  # The shipper is killed at several moments, and so is the server.
  for count in 3 6 9 12; do
    "$winnow" "${options[@]}" >out 2>err &
    shipper=$!
    until curl -s -H 'X-ClickHouse-User: ship' -H 'X-ClickHouse-Key: a secret' --data-binary "SELECT uniq(batch) >= $count FROM samples" "$url/?database=winnow" | grep -qx 1; do
      kill -0 $shipper 2>/dev/null || break
    done
    kill -KILL $shipper $([ $((count % 2)) = 0 ] || echo $clickhouse) 2>/dev/null
    wait $shipper 2>/dev/null
    [ $((count % 2)) = 0 ] || { wait $clickhouse 2>/dev/null; begin_clickhouse; }
  done
  succeeds "${options[@]}"
  says_clickhouse 16 'SELECT count() FROM loads'
  says_clickhouse 0 'SELECT count() FROM (SELECT batch, count() AS there FROM samples GROUP BY batch) ANY FULL JOIN (SELECT batch, rows FROM loads) USING batch WHERE there != rows'
  total=$("$winnow" report --json --at end t | jq '.totals.allocated_bytes.estimate')
  says_clickhouse 1 "SELECT abs(sum(bytes) / $total - 1) < 1e-6 FROM samples WHERE kind = 'born'"
  # What is sent, but not loaded.
  asks 'SELECT count() FROM samples'
  count=$answer
  asks 'TRUNCATE TABLE loads'
  succeeds "${options[@]}"
  says 'shipped 16 windows of 1 recording'
  says_clickhouse "$count" 'SELECT count() FROM samples'
  says_clickhouse 16 'SELECT count() FROM loads'
  # A block that is not complete is not inserted, wherever it was cut.
  { head -c 16 /dev/zero; printf '\2\x1b\0\0\0\x12\0\0\0'; printf '123456789abcdefghi'; } >block
  asks 'CREATE TABLE numbers (number UInt8) ENGINE = MergeTree ORDER BY number'
  for count in 30 42; do
    head -c $count block | curl -s -m 2 -H 'X-ClickHouse-User: ship' -H 'X-ClickHouse-Key: a secret' -H 'Content-Length: 43' --data-binary @- \
      "$url/?query=INSERT%20INTO%20winnow.numbers%20FORMAT%20RowBinary&decompress=1&http_native_compression_disable_checksumming_on_decompress=1"
  done
  says_clickhouse 0 'SELECT count() FROM numbers'
}
