# Reads the disassembly of one function (objdump -d --no-show-raw-insn), follows it from its entry to `ret`, falling through
# conditional branches, and prints how many instructions there are, calls included.
#
# Not counted: the return, and what keeps the arguments over the slow call and the result in its register (push, pop, moves
# of %rsp, moves between registers): a function of its own needs that for its slow call, while code that
# is inlined into a larger one chooses its registers there.
done || !/^ +[0-9a-f]+:\t/ { next }
{
  line = $0
  sub(/^ +[0-9a-f]+:\t/, "", line)
  sub(/#.*/, "", line)
  sub(/ +$/, "", line)
  split(line, word, " ")
  operation = word[1]
  operands = substr(line, length(operation) + 1)
  gsub(/ /, "", operands)
  if (operation ~ /^(nop|endbr64|data16|cs|push|pop)/) next
  if (operation ~ /^ret/) { done = 1; next }
  if (operation == "jmp") { print "an unconditional jump inside: " line > "/dev/stderr"; broken = 1 }
  if (operation ~ /^call/) { print "a call inside: " line > "/dev/stderr"; broken = 1 }
  if (operation ~ /^(add|sub)/ && operands ~ /,%rsp$/) next
  if (operation == "mov" && operands ~ /^%[a-z0-9]+,%[a-z0-9]+$/) next
  count++
}
END { print done && !broken ? count : "nothing" }
# SPDX-License-Identifier: MIT
