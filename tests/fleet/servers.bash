# Servers of Debian's ClickHouse on loopback, each with a folder of its own: what tests, the demo and benchmarks start.
#   servers_there                  whether there is a ClickHouse
#   servers_start FOLDER COUNT     starts them as the shards of the cluster "machines"; sets http_ports and server_pids
#   server_start FOLDER NUMBER     starts one of them again, from 0 on
#   server_stop NUMBER [SIGNAL]    ends it, and waits for its end
#   servers_stop                   ends all
# An end of the shell should call servers_stop. With server_log=debug the log of a server has what each query took.
server_log=${server_log-warning}
http_ports=() tcp_ports=() sync_ports=() server_pids=()

servers_there() { command -v clickhouse-server >/dev/null && command -v clickhouse-client >/dev/null; }

# Ports that nothing listens on now.
free_ports() { # COUNT
  perl -MIO::Socket::INET -e 'my @all = map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die } 1 .. shift;
    print join(" ", map { $_->sockport } @all), "\n"' "$1"
}

server_write() { # FOLDER NUMBER
  local folder=$1/server$2 port shards=
  mkdir -p "$folder"
  for port in "${tcp_ports[@]}"; do
    shards+="<shard><replica><host>127.0.0.1</host><port>$port</port></replica></shard>"
  done
  cat >"$folder/users.xml" <<XML
<yandex>
  <profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
  <quotas><default></default></quotas>
</yandex>
XML
  cat >"$folder/config.xml" <<XML
<yandex>
  <logger><level>$server_log</level><log>$folder/log</log><errorlog>$folder/errors</errorlog></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${http_ports[$2]}</http_port><tcp_port>${tcp_ports[$2]}</tcp_port>
  <interserver_http_port>${sync_ports[$2]}</interserver_http_port>
  <path>$folder/data/</path><tmp_path>$folder/tmp/</tmp_path><users_config>$folder/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  <mark_cache_size>5368709</mark_cache_size><timezone>UTC</timezone>
  <remote_servers><machines>$shards</machines></remote_servers>
</yandex>
XML
}

# Waits until a server answers; fails if it ends instead.
server_wait() { # NUMBER FOLDER
  local answer
  until answer=$(curl -s -m 10 "http://127.0.0.1:${http_ports[$1]}/ping") && [ "$answer" = Ok. ]; do
    kill -0 "${server_pids[$1]}" 2>/dev/null || { tail -n 3 "$2/server$1/errors" "$2/server$1/out" >&2; return 1; }
    sleep 0.05
  done
}

server_start() { # FOLDER NUMBER
  clickhouse-server --config-file="$1/server$2/config.xml" >"$1/server$2/out" 2>&1 &
  server_pids[$2]=$!
  server_wait "$2" "$1"
}

servers_start() { # FOLDER COUNT
  local i ports
  read -ra ports < <(free_ports $((3 * $2)))
  http_ports=("${ports[@]:0:$2}") tcp_ports=("${ports[@]:$2:$2}") sync_ports=("${ports[@]:2*$2:$2}") server_pids=()
  for ((i = 0; i < $2; i++)); do server_write "$1" "$i"; done
  for ((i = 0; i < $2; i++)); do server_start "$1" "$i" || return 1; done
}

server_stop() { # NUMBER [SIGNAL]
  [ -n "${server_pids[$1]-}" ] || return 0
  kill "-${2-TERM}" "${server_pids[$1]}" 2>/dev/null || true
  wait "${server_pids[$1]}" 2>/dev/null || true
  server_pids[$1]=
}

servers_stop() {
  local i
  for i in "${!server_pids[@]}"; do server_stop "$i" KILL; done
}

# Asks a server, or all shards by way of it.
ask() { # NUMBER SQL
  curl -s -m 60 --data-binary "$2" "http://127.0.0.1:${http_ports[$1]}/"
}
# SPDX-License-Identifier: MIT
