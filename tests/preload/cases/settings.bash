# The variables that ask the preloaded library for a trace.
# shellcheck shell=bash disable=SC2154

# The program runs as ever; leaves what the library said in `err`.
runs_with() { # NAME=VALUE...
  rm -f t
  env WINNOW_TRACE="$PWD/t" "$@" LD_PRELOAD="$library" sh -c 'echo it runs; echo of a child; exit 3' >said 2>err
  [ $? = 3 ] && [ "$(cat said)" = $'it runs\nof a child' ] || fail "$*: the program does not run: $(cat said err)"
}

is_recorded_with() { # NAME=VALUE...
  runs_with "$@"
  [ ! -s err ] || fail "$*: $(cat err)"
  opens t
}

is_refused() { # NAME=VALUE PATTERN
  runs_with "$1"
  [ "$(wc -l <err)" = 1 ] || fail "$1: not one line: $(cat err)"
  grep -Eq "^winnow: ${1%%=*}=$2: it must be .*; going on unprofiled\$" err || fail "$1: $(cat err)"
  [ ! -e t ] || fail "$1: a trace is there"
}

variables_that_are_right_or_empty_are_heeded() {
  is_recorded_with WINNOW_RATE=0.5 WINNOW_DEPTH=3 WINNOW_SEED=0x10
  [ "$(jq -c '[.rate, .seed]' info.json)" = '[0.5,16]' ] || fail "$(cat info.json)"
  is_recorded_with WINNOW_RATE= WINNOW_DEPTH= WINNOW_SEED= WINNOW_FOLLOW= WINNOW_PID= WINNOW_OVER=
  [ "$(jq .rate info.json)" = 0.0001 ] || fail "$(cat info.json)"
  is_recorded_with WINNOW_RATE=0 WINNOW_DEPTH=0 WINNOW_SEED=0 WINNOW_FOLLOW=0 WINNOW_PID=0 WINNOW_OVER=none
  is_recorded_with WINNOW_RATE=1 WINNOW_DEPTH=1024 WINNOW_SEED=18446744073709551615
  env WINNOW_TRACE= WINNOW_RATE=abc LD_PRELOAD="$library" true 2>err
  [ ! -s err ] || fail "nothing is asked for: $(cat err)"
}

variables_that_are_wrong_record_nothing() {
  local name value
  for value in abc 0,5 1.5 -0.1 1e inf; do is_refused WINNOW_RATE=$value "$value"; done
  for value in xyz -1 1.5 1025 1e2 ' 1'; do is_refused "WINNOW_DEPTH=$value" "$value"; done
  for value in xyz -1 1.5 18446744073709551616; do is_refused WINNOW_SEED=$value "$value"; done
  for name in FOLLOW PID; do
    for value in yes -1 99999999999999999999; do is_refused WINNOW_$name=$value "$value"; done
  done
  is_refused WINNOW_FOLLOW=4 4
  for value in abc 1K -64M 64X; do is_refused WINNOW_MAX_TRACE=$value "$value"; done
  is_refused WINNOW_OVER=12345678901234567890123456789012345678901 12345678901234567890123456789012345678901
  is_refused WINNOW_RATE=$'a\x1b[7m' 'a\?\[7m'
  runs_with WINNOW_RATE=abc WINNOW_SEED=xyz
  [ "$(wc -l <err)" = 1 ] || fail "two wrong values are told in: $(cat err)"
  # Children that the program starts find nothing of the request.
  env WINNOW_TRACE="$PWD/t" WINNOW_RATE=abc WINNOW_FOLLOW=1 LD_PRELOAD="$library" sh -c 'env; true' >said 2>err
  [ "$(wc -l <err)" = 1 ] || fail "children tell again: $(cat err)"
  ! grep -E '^(WINNOW_|LD_PRELOAD)' said || fail "variables are left"
  local long
  long=$(printf '%05000d' 0)
  runs_with WINNOW_TRACE="/$long"
  [ "$(wc -l <err)" = 1 ] && grep -Eq '^winnow: WINNOW_TRACE=/0+\.\.\.: it must be ' err || fail "a long name: $(cat err)"
  runs_with WINNOW_RATE="$long"
  [ "$(wc -l <err)" = 1 ] && grep -Eq '^winnow: WINNOW_RATE=0+\.\.\.: it must be ' err || fail "a long number: $(cat err)"
}

variables_mean_the_same_in_every_locale() {
  need localedef
  localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" 2>why || skip "no German locale: $(cat why)"
  export LOCPATH=$PWD LC_ALL=de_DE.UTF-8
  [ "$(locale decimal_point)" = , ] || skip "no decimal comma"
  is_recorded_with WINNOW_RATE=0.5
  [ "$(jq .rate info.json)" = 0.5 ] || fail "$(cat info.json)"
  is_refused WINNOW_RATE=0,5 0,5
  "$winnow" record -q --rate 0.25 -o t -- true || fail "record"
  opens t
  [ "$(jq .rate info.json)" = 0.25 ] || fail "$(cat info.json)"
}

# What stands in the environment of `winnow record` itself asks for nothing.
a_recording_is_what_its_options_say() {
  export WINNOW_SEED=xyz WINNOW_RATE=abc WINNOW_DEPTH=7 WINNOW_FOLLOW=2 WINNOW_OVER=x
  "$winnow" record -q --seed 5 -o t -- true 2>err || fail "record: $(cat err)"
  [ ! -s err ] || fail "$(cat err)"
  opens t
  [ "$(jq -c '[.rate, .seed]' info.json)" = '[0.0001,5]' ] || fail "$(cat info.json)"
}
