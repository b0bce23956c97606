# The drop-ins of `winnow unit`; sourced by run.
# shellcheck shell=bash disable=SC2154

unit() { # LINE...: a file with these settings of a service
  need_recording
  printf '%s\n' '[X-Other]' 'User=of_no_service' '[Service]' "$@" >app.service
}

planned() { # OPTION...: the drop-in, in `out`, and the lines about the unit, in `err`
  run unit "$@" ./app.service
  [ "$code" = 0 ] || fail "winnow unit $*: code $code: $(cat err)"
}

noted() { grep -Eq "^winnow: app[.]service: note: $1" err || fail "no '$1' in: $(cat err)"; }     # PATTERN
quiet() { [ ! -s err ] || fail "for nothing: $(cat err)"; }
prevented() { # PATTERN OPTION...
  local pattern=$1
  shift
  run unit "$@" ./app.service
  [ "$code" = 1 ] && [ ! -s out ] || fail "code $code, written: $(cat out)"
  grep -Eq "^winnow: app[.]service: prevented by $pattern" err || fail "no '$pattern' in: $(cat err)"
  grep -q '^winnow: app[.]service cannot be recorded so; nothing is written$' err || fail "$(cat err)"
}
line_of() { grep -qxF -- "$1" out || fail "no line '$1' in: $(cat out)"; }

a_unit_gets_a_drop_in() {
  local library=$build/src/preload/libwinnow-malloc.so.0.1
  library=$(realpath "$library")
  unit 'ExecStart=/bin/cat /dev/zero'
  planned
  quiet
  line_of "Environment=\"LD_PRELOAD=$library\""
  line_of 'StateDirectory=winnow/app'
  line_of 'Environment="WINNOW_TRACE=%S/winnow/app/"'
  line_of 'Environment="WINNOW_BUDGET=1%%"'
  line_of 'Environment="WINNOW_MAX_TRACE=64M"'
  grep -q '^# .*winnow compact -q -m 64M /var/lib/winnow/app$' out || fail "$(cat out)"
  ! grep -q 'WINNOW_RATE\|WINNOW_ASLEEP\|WINNOW_FOLLOW\|ReadWritePaths\|Bind' out || fail "$(cat out)"
  planned --rate 1e-3 --asleep -f --max-trace 1G
  line_of 'Environment="WINNOW_MAX_TRACE=1G"'
  line_of 'Environment="WINNOW_RATE=1e-3"'
  line_of 'Environment="WINNOW_ASLEEP=1"'
  line_of 'Environment="WINNOW_FOLLOW=1"'
  ! grep -q BUDGET out || fail "$(cat out)"
  planned -o app.service.d/winnow.conf
  grep -q '^winnow: next: systemctl daemon-reload && systemctl restart app.service$' err || fail "$(cat err)"
  [ ! -s out ] && grep -q '^\[Service\]$' app.service.d/winnow.conf || fail "$(cat out)"
  refused 2 'which service' unit
  refused 2 'which service' unit a b
  refused 2 '--max-trace 1: it must be' unit -m 1 ./app.service
  refused 2 '--rate 2: it must be' unit --rate 2 ./app.service
  refused 2 "option '--nonsense' is not known" unit --nonsense ./app.service
  refused 2 '--traces here: it must be the whole path' unit --traces here ./app.service
  refused 2 "a;b: it must be the name" unit 'a;b'
  refused 1 'cannot read ./none.service: No such file' unit ./none.service
  cp app.service app.timer
  refused 1 'app.timer: the file of a service' unit ./app.timer
}

systemd_finds_nothing_wrong_with_a_drop_in() {
  need systemd-analyze
  unit 'ExecStart=/bin/cat /dev/zero' 'User=daemon' 'ProtectSystem=strict'
  systemd-analyze verify ./app.service >verified 2>&1 || skip "systemd-analyze verifies nothing here: $(head -c 200 verified)"
  [ ! -s verified ] || skip "systemd-analyze has complaints of its own: $(head -c 200 verified)"
  planned -o app.service.d/winnow.conf -f --rate 1e-4
  systemd-analyze verify ./app.service >verified 2>&1 && [ ! -s verified ] || fail "$(cat verified)"
  unit 'ExecStart=/bin/cat /dev/zero' 'User=daemon' 'ProtectSystem=full'
  planned --traces /var/tmp/traces -o app.service.d/winnow.conf
  systemd-analyze verify ./app.service >verified 2>&1 && [ ! -s verified ] || fail "$(cat verified)"
  echo 'Environment="WINNOW' >>app.service.d/winnow.conf
  systemd-analyze verify ./app.service >verified 2>&1
  [ -s verified ] || fail "systemd-analyze does not read the drop-in"
}

what_prevents_a_recording_is_said() {
  local library=$build/src/preload
  library=$(realpath "$library")
  unit
  prevented 'ExecStart=: there is none'
  printf '\177ELF\1\1\1' >narrow
  head -c 100 /dev/zero >>narrow
  chmod +x narrow
  unit "ExecStart=-$PWD/narrow --option"
  prevented "ExecStart=: $PWD/narrow (is a 32-bit program|has a format)"
  unit 'ExecStart=/bin/cat' "ExecStartPre=$PWD/narrow" "ExecStart=@\"$PWD/narrow\" name"
  prevented "ExecStart=: $PWD/narrow"
  unit "ExecStart=$PWD/narrow" 'ExecStart=' 'ExecStart=/bin/cat'
  planned
  unit "ExecStart=/narrow" "RootDirectory=$PWD"
  prevented "ExecStart=: $PWD/narrow"
  cp /bin/cat gains
  chmod u+s gains
  unit "ExecStart=$PWD/gains" 'User=daemon'
  prevented "ExecStart=: $PWD/gains gains privileges"
  unit "ExecStart=$PWD/gains" 'User=daemon' 'NoNewPrivileges=yes'
  planned
  unit "ExecStart=$PWD/gains"
  planned
  unit 'ExecStart=/bin/cat' "TemporaryFileSystem=/nowhere:ro ${library%/*/*/*}:ro"
  prevented "TemporaryFileSystem=: it hides the library $library/"
  unit 'ExecStart=/bin/cat' "InaccessiblePaths=-$library"
  prevented 'InaccessiblePaths=: it hides the library'
  unit 'ExecStart=/bin/cat' 'PrivateTmp=yes'
  prevented 'PrivateTmp=: the service has a /tmp of its own, and not the folder /tmp/traces' --traces /tmp/traces
  unit 'ExecStart=/bin/cat' 'ProtectHome=true'
  prevented 'ProtectHome=true: the service does not see the folder /home/me' --traces /home/me
  unit 'ExecStart=/bin/cat' 'DynamicUser=1'
  prevented 'DynamicUser=: its user, another one each time, may not write /srv/t' --traces /srv/t
}

what_needs_attention_is_said() {
  unit 'ExecStart=/bin/cat' '# a comment' 'User=somebody'
  planned --traces /srv/t/
  noted 'User=somebody must be able to write the folder: install -d -m 700 -o somebody /srv/t/$'
  line_of 'Environment="WINNOW_TRACE=/srv/t/"'
  ! grep -q ReadWritePaths out || fail "$(cat out)"
  unit 'ExecStart=/bin/cat' 'ProtectSystem=strict'
  planned -t /srv/t
  line_of 'ReadWritePaths=/srv/t'
  noted 'the folder must be there: install -d -m 700 /srv/t$'
  line_of 'Environment="WINNOW_TRACE=/srv/t/"'
  unit 'ExecStart=/bin/cat' 'SystemCallFilter=@basic-io \' '; within' '  read'
  planned
  noted 'SystemCallFilter=: recording needs the calls of @basic-io'
  unit 'ExecStart=/bin/cat' 'SystemCallFilter=@system-service' 'SystemCallFilter=~@privileged'
  planned
  quiet
  unit 'ExecStart=/bin/cat' 'SystemCallFilter=~@privileged'
  planned
  quiet
  unit 'ExecStart=/bin/cat' 'LimitAS=4G' 'LimitFSIZE=1G'
  planned
  noted 'LimitAS=4G: no addresses can be reserved'
  noted 'LimitFSIZE=1G: a trace ends when it is so large'
  unit 'ExecStart=/bin/cat' 'LimitAS=infinity' 'MemoryMax=infinity'
  planned
  quiet
  unit 'ExecStart=/bin/cat' 'Environment=A=1' 'Environment=LD_PRELOAD=libother.so'
  planned
  noted 'Environment=: the unit sets LD_PRELOAD'
  unit 'ExecStart=/bin/cat' 'RootDirectory=/'
  planned
  noted 'RootDirectory=: the library is bound into it'
  grep -q '^BindReadOnlyPaths=/.*/libwinnow-malloc' out || fail "$(cat out)"
  unit 'ExecStart=%h/app'
  planned
  noted 'ExecStart=%h/app: the program is not known here'
  printf '#!/bin/sh\nexec cat\n' >script
  chmod +x script
  unit "ExecStart=$PWD/script"
  planned
  noted 'ExecStart=.*/script is a script: give --follow-children'
  planned -f
  quiet
  [ "$(stat -fc %T /dev/shm 2>/dev/null)" = tmpfs ] || return 0
  unit 'ExecStart=/bin/cat' 'MemoryMax=64M'
  planned
  quiet
  planned --traces /dev/shm/a/b
  noted 'MemoryMax=64M: the traces are on a tmpfs, and count against it'
}

# What systemctl prints: the file, and the drop-ins behind it, of which our own is not the unit's.
units_are_read_as_systemctl_shows_them() {
  need_recording
  mkdir bin
  cat >bin/systemctl <<'END'
#!/bin/sh
[ "$*" = 'cat -- app.service' ] || exit 1
cat <<'UNIT'
# /lib/systemd/system/app.service
[Service]
ExecStart=/bin/cat
LimitFSIZE=1G
# /etc/systemd/system/app.service.d/winnow.conf
[Service]
Environment="LD_PRELOAD=/lib/libwinnow-malloc.so"
# /etc/systemd/system/app.service.d/z.conf
[Service]
LimitFSIZE=2G
UNIT
END
  chmod +x bin/systemctl
  PATH=$PWD/bin:$PATH run unit app
  [ "$code" = 0 ] || fail "$(cat err)"
  noted 'LimitFSIZE=2G'
  [ "$(wc -l <err)" = 1 ] || fail "$(cat err)"
  line_of 'StateDirectory=winnow/app'
  PATH=$PWD/bin:$PATH run unit app.service
  [ "$code" = 0 ] || fail "$(cat err)"
  PATH=$PWD/bin:$PATH run unit other
  [ "$code" = 1 ] && grep -q 'systemctl knows no other.service here' err || fail "code $code: $(cat err)"
}

# Bytes of any kind are a unit, or none.
garbage_in_units_does_no_harm() {
  local i
  for i in $(seq 30); do
    { printf '[Service]\nExecStart=/bin/cat\n'; head -c 3000 "$winnow" | tail -c $((i * 90)); printf '\nExecStart=\\\n\\\n='; } >app.service
    run unit ./app.service
    [ "$code" -le 1 ] || fail "code $code: $(cat err)"
  done
}
