#!/usr/bin/env bash
# WINNOW_PARAMS in a program that has more rights than who started it: secure.bash PROGRAM
set -u
program=$1
stranger=65534

skip() {
  echo "skipped: $*"
  exit 77
}

expect() { # EXPECTED MODE: what a copy with this mode says, started by the stranger with the variable set
  chmod "$2" "$folder/program"
  local said
  said=$(WINNOW_PARAMS=o=77 setpriv --reuid=$stranger --regid=$stranger --clear-groups "$folder/program" 2>&1)
  case "$2 $said" in 4755*"secure 0"*) skip "the system does not heed set-user-ID here" ;; esac
  [ "$said" = "$1" ] && return
  echo "expected '$1', but the program said '$said'"
  exit 1
}

a_program_with_more_rights_than_its_caller_ignores_the_variable() { # G55
  [ "$(id -u)" = 0 ] || skip "only root can make a program that runs as root for others"
  command -v setpriv >/dev/null || skip "there is no setpriv"
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  chmod 711 "$folder"
  cp "$program" "$folder/program"
  setpriv --reuid=$stranger --regid=$stranger --clear-groups true || skip "no other user can be had"
  expect "secure 0, space_overhead 77" 755
  expect "secure 1, space_overhead 120" 4755
}

a_program_with_more_rights_than_its_caller_ignores_the_variable
