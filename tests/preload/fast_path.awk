# Reads the disassembly of one function (objdump -d --no-show-raw-insn), follows it from its entry to the tail jump of the
# unsampled path, falling through conditional branches, and prints
#   instructions conditional-branches %fs-reads %fs-writes other-loads other-stores calls locks
# "other" leaves out what is loaded from the table `real` and from the global offset table (the thread-local's offset).

function base_register(operand) {
  match(operand, /\(%[a-z0-9]+/)
  return RSTART ? substr(operand, RSTART + 1, RLENGTH - 1) : ""
}

# What a memory operand touches: "fs", "ours" or "other".
function kind(operand, comment) {
  if (operand ~ /%fs:/) return "fs"
  if (operand ~ /\(%rip\)/) return comment ~ /<(real|_GLOBAL_OFFSET_TABLE_)[+>]/ || comment ~ /@@?Base/ ? "ours" : "other"
  return points_to_real[base_register(operand)] ? "ours" : "other"
}

function register_written(text) {
  match(text, /%[a-z0-9]+$/)
  return RSTART ? substr(text, RSTART, RLENGTH) : ""
}

done || !/^ +[0-9a-f]+:\t/ { next }

{
  line = $0
  sub(/^ +[0-9a-f]+:\t/, "", line)
  comment = ""
  if (match(line, /#.*/)) {
    comment = substr(line, RSTART)
    line = substr(line, 1, RSTART - 1)
  }
  sub(/ +$/, "", line)
  split(line, word, " ")
  operation = word[1]
  operands = substr(line, length(operation) + 1)
  gsub(/ /, "", operands)
  if (operation ~ /^(nop|endbr64|data16|cs|xchg)/) next
  if (operation ~ /^lock/) locks++
  if (operation ~ /^call/) calls++
  if (operation == "jmp") {
    # Tail jump; through the table, or by a register loaded from it.
    if (operands ~ /^\*/) { done = 1; next }
    print "an unconditional jump inside: " line > "/dev/stderr"
    next
  }
  instructions++
  if (operation ~ /^j/) { branches++; next }
  if (operation == "ret") { print "returns before the tail jump" > "/dev/stderr"; done = 1; next }
  target = register_written(operands)
  if (operation ~ /^lea/) {
    points_to_real[target] = comment ~ /<real[+>]/
    next
  }
  at = index(operands, "(") ? 1 : operands ~ /%fs:/
  if (at) {
    memory_last = operands ~ /(\)|%fs:[^,]*)$/
    touched = kind(operands, comment)
    writes = memory_last && operation !~ /^(cmp|test|push)/
    reads = !writes || operation !~ /^mov/
    if (touched == "fs") { fs_reads += reads; fs_writes += writes }
    if (touched == "other") { loads += reads; stores += writes }
    if (touched == "ours" && writes) stores++
  }
  if (operation ~ /^(push|pop)/) stores++
  if (target != "") points_to_real[target] = 0
}

END {
  if (!done) print "no tail jump" > "/dev/stderr"
  print instructions + 0, branches + 0, fs_reads + 0, fs_writes + 0, loads + 0, stores + 0, calls + 0, locks + 0
}
# SPDX-License-Identifier: MIT
