# winnow html; sourced by run.
# shellcheck shell=bash disable=SC2154

# Writes the sections of a page to files NAME.bin, inflated and checked.
unpack() { # PAGE
  need perl
  perl -MMIME::Base64 -MCompress::Raw::Zlib -e '
    local $/; open my $in, "<", $ARGV[0] or die; my $page = <$in>; my %blocks;
    while ($page =~ m{<script type="application/octet-stream" data-section="([A-Z]{4})" data-block="(\d+)" data-blocks="(\d+)" data-raw="(\d+)" data-codec="([a-z-]+)" data-crc="([0-9a-f]{8})">([A-Za-z0-9+/=]*)</script>\n}g) {
      my ($name, $block, $count, $raw, $codec, $crc, $bytes) = ($1, $2, $3, $4, $5, $6, decode_base64($7));
      if ($codec eq "deflate-raw") {
        my $inflater = Compress::Raw::Zlib::Inflate->new(-WindowBits => -MAX_WBITS); my $out;
        $inflater->inflate($bytes, $out) == Z_STREAM_END or die "$name $block: not deflated"; $bytes = $out;
      } else { $codec eq "raw" or die "codec $codec" }
      length $bytes == $raw or die "$name $block: length"; crc32($bytes) == hex $crc or die "$name $block: checksum";
      $block == ($blocks{$name} // 0) && $block < $count or die "$name $block of $count: order"; $blocks{$name}++;
      open my $out, ">>", "$name.bin" or die; print $out $bytes;
    }
    print join(" ", sort keys %blocks), "\n"' "$1" || fail "the page $1 is damaged"
}

pages_have_the_whole_recording() {
  local kind
  for kind in plain exact none one bare killed shrunk collected named; do
    make $kind t.trace
    rm -f -- *.bin
    succeeds html t.trace
    grep -Eqx 't\.html \([0-9.]+ [kM]?B\)' out || fail "it prints: $(cat out)"
    [ "$(unpack t.html)" = "ANSW BLDS FRAM HEAP KIND MAPS META MORE NODE ORIG RATE ROWS STRS TIME" ] || fail "$kind: sections: $(unpack t.html)"
    ! grep -Eq '<!--winnow:(head|text|data)-->' t.html || fail "a marker is left"
    [ "$(grep -o 'data-section="[A-Z]*"' t.html | head -1)" = 'data-section="ANSW"' ] || fail "the answers are not first"
    grep -q 'Held at the peak' t.html || fail "$kind: no text"
  done
  mkdir folder
  mv t.trace folder/a.trace
  succeeds html folder/a.trace
  [ -s a.html ] || fail "not in the current folder"
  mv folder/a.trace folder/a.trace.77
  succeeds html folder/a.trace.77
  [ -s a.trace.77.html ] || fail "the traces of two processes have one page"
  succeeds html -o - folder/a.trace.77
  cmp -s out a.trace.77.html || fail "standard output has another page"
  "$winnow" html -o page.html - <folder/a.trace.77 >/dev/null || fail "from standard input"
  # A trace without a name differs in that alone.
  sed 's|<meta name="winnow-file" content="a.trace.77">||' a.trace.77.html | cmp -s page.html - || fail "standard input gives another page"
  ! cmp -s page.html a.trace.77.html || fail "the page does not name its trace"
}

opens_with() { # ADDRESS OPTION...
  local address=$1
  shift
  succeeds html "$@" t.trace
  [ "$(grep -o '<meta name="winnow-view" content="[^"]*">' t.html)" = "${address:+<meta name=\"winnow-view\" content=\"$address\">}" ] ||
    fail "$*: it opens with $(grep -o '<meta name="winnow-view"[^>]*>' t.html)"
}

pages_open_with_what_was_asked() {
  make plain t.trace
  opens_with ''
  opens_with '' --at peak
  opens_with end --at end
  opens_with 'peak&amp;by=line' --by line
  opens_with 'end&amp;where=at+=+1ms' -a 1ms
  opens_with 'end&amp;where=at+=+1ms+and+(size+%3E+100+or+fn+~+%22a%2Bb%22)&amp;by=file' --at 1ms -b file --where 'size > 100 or fn ~ "a+b"'
  grep -q 'only blocks with size &gt; 100' t.html || fail "the text ignores the query"
  opens_with 'end&amp;where=size+%3C+1K+and+at+=+0.5ms' -w 'size < 1K and at = 0.5ms'
}

pages_compare_two_runs() {
  make plain before.trace
  make named t.trace
  succeeds html before.trace t.trace
  grep -q '<meta name="winnow-view" content="compare">' t.html || fail "it opens with another view"
  [ "$(grep -c 'data-section="ROWS".*data-run="before"' t.html)" -gt 0 ] || fail "the run before is missing"
  [ "$(grep 'data-section="ROWS"' t.html | grep -vc data-run)" -gt 0 ] || fail "the run is missing"
  "$winnow" diff --all before.trace t.trace | head -n 3 | tail -n 1 >said
  grep -qF -- "$(cat said)" t.html || fail "the text is not that of winnow diff: $(grep -A 6 '<noscript>' t.html)"
  opens_with 'compare&amp;where=at+=+end' --at end before.trace
  refused 2 'that is after the end of the trace' html --at 100s before.trace t.trace
  refused 1 'cannot open nothing' html nothing t.trace
  refused 2 'before.trace is the trace' html -o before.trace before.trace t.trace
}

wrong_pages_are_refused() {
  make plain t.trace
  cp t.trace before
  refused 2 'which trace' html
  refused 2 'a page has one trace, or two that it compares' html t.trace t.trace t.trace
  refused 2 't.trace is the trace' html -o t.trace t.trace
  ln t.trace other
  refused 2 'other is the trace' html -o other t.trace
  cmp -s t.trace before || fail "the trace was changed"
  refused 2 'give the page a name' html -
  refused 2 "'': it must be a file's name" html -o '' t.trace
  refused 2 'it must be function, line, file, module, process, host, release, thread or type' html --by stack t.trace
  refused 2 'it must be from 10K to 64M' html --max-size 1 t.trace
  refused 2 'it must be from 10K to 64M' html --max-size lots t.trace
  refused 2 'give one of them' html --max-size 1M --full t.trace
  refused 2 'after the end' html --at 10s t.trace
  refused 2 '--where: query, column 4' html --where 'fn is x' t.trace
  refused 2 'no sampled stack has a function' html --wrapper nobody t.trace
  refused 1 'absent: No such file' html absent
  echo "no trace" >wrong
  refused 1 'wrong' html wrong
  refused 1 'cannot write nowhere/t.html: No such file' html -o nowhere/t.html t.trace
  refused 1 'cannot write \.: Is a directory' html -o . t.trace
  refused 1 'cannot write /dev/full: No space left' html -o /dev/full t.trace
  if [ "$(id -u)" != 0 ]; then
    mkdir closed
    chmod a-w closed
    refused 1 'cannot write closed/t.html: Permission denied' html -o closed/t.html t.trace
  fi
  [ "$(echo -- *.html*)" = '-- *.html*' ] || fail "pages of failures: $(echo ./*.html*)"
}

pages_are_written_as_a_whole() {
  make many t.trace 100000
  echo old >t.html
  # A limit on the size of files is a disk that is full.
  (ulimit -f 100; trap '' XFSZ; "$winnow" html t.trace >out 2>err)
  [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q 'cannot write t.html: File too large' err || fail "no room: $(cat err)"
  [ "$(cat t.html)" = old ] || fail "an older page is gone"
  (ulimit -f 100; "$winnow" html t.trace >out 2>err) # as it is by default
  [ $? = 1 ] && grep -q 'cannot write t.html: File too large' err || fail "the signal ended it: $(cat err)"
  ! compgen -G 't.html.??????' >/dev/null || fail "the signal leaves $(echo t.html.*)"
  local signal pid code
  for signal in INT TERM HUP; do
    # A shell starts background processes with SIGINT ignored, so perl starts this one.
    need perl
    perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$winnow" html --no-symbols t.trace >out 2>err &
    pid=$!
    for _ in $(seq 500); do
      compgen -G 't.html.??????' >/dev/null && break
      sleep 0.01
    done
    kill -$signal $pid
    { wait $pid; } 2>/dev/null
    code=$?
    [ $code -gt 128 ] || [ "$signal" = INT ] || fail "$signal: code $code"
    [ "$(cat t.html)" = old ] || [ $code = 0 ] || fail "$signal: an older page is gone"
    ! compgen -G 't.html.??????' >/dev/null || fail "$signal leaves $(echo t.html.*)"
    [ $code = 0 ] || continue
    echo old >t.html
  done
  rm t.html
  umask 027
  succeeds html t.trace
  [ "$(stat -c %a t.html)" = 640 ] || fail "permissions $(stat -c %a t.html)"
}

hostile_names_stay_in_their_place() {
  make hostile t.trace
  succeeds html t.trace
  unpack t.html >/dev/null
  grep -aq '</noscript><img src=x onerror=alert(1)>' STRS.bin META.bin TIME.bin || fail "the trace has no such name"
  ! grep -aq '<img' t.html || fail "a name broke out: $(grep -a -m1 '<img' t.html)"
  grep -aq '>noscript&gt;&lt;img src=x onerror=alert(1)&gt;' t.html || fail "the text does not name the program"
  grep -aq '/script&lt;/pre&gt;&lt;/noscript&gt;' t.html || fail "the text does not name the function"
  # Everything between the tags of the template and of the blocks is text without tags.
  [ "$(grep -ao '</noscript>' t.html | wc -l)" = "$(grep -ao '</noscript>' "$source/viewer/page.html" | wc -l)" ] || fail "another end of noscript"
  [ "$(grep -ao '</pre>' t.html | wc -l)" = "$(grep -ao '</pre>' "$source/viewer/page.html" | wc -l)" ] || fail "another end of pre"
}

a_page_says_what_the_program_became() {
  need_recording
  "$winnow" record -q --rate 1 -o t -- sh -c 'x=$(echo a); exec true' || fail "record ended with $?"
  printf 'view=head\n\n' | "$build/tests/page/page_ask" t >head
  grep -aq '"became": "[^"]*/true"' head || fail "$(cat head)"
  make plain t
  printf 'view=head\n\n' | "$build/tests/page/page_ask" t >head
  ! grep -aq '"became"' head || fail "$(cat head)"
}

source_lines_are_in_a_page_only_if_asked_for() {
  make named t.trace
  "$winnow" report --json --by file t.trace | grep -q of_one_word.cc || skip "the tiny build cuts names of files"
  mkdir sources
  seq -f 'secret %.0f </script><b>' 1 400 >sources/and_a_file_with_a_name_of_one_word.cc
  touch -d '2020-01-01' sources/*
  succeeds html --search sources t.trace
  [ "$(unpack t.html)" = "ANSW BLDS FRAM HEAP KIND MAPS META MORE NODE ORIG RATE ROWS STRS TIME" ] || fail "sections without --source: $(unpack t.html)"
  ! grep -aq 'secret' ./*.bin t.html || fail "source lines that nobody asked for"
  rm -f -- *.bin
  succeeds html --source --search sources t.trace
  says 'lines of 1 source file'
  unpack t.html | grep -q SRCS || fail "no lines"
  grep -aqx 'secret 7 </script><b>' SRCS.bin || fail "the lines are others: $(head -c 300 SRCS.bin)"
  ! grep -aq 'secret' t.html || fail "lines stand in the page as text"
  [ "$(stat -c %a t.html)" = 600 ] || fail "others can read the page: $(stat -c %a t.html)"
  succeeds html --source t.trace
  says 'no source file was found'
}

# A trace can name any file. Only those below the folders that the user gives get into a page, wherever links lead.
source_lines_come_from_the_given_folders_alone() {
  make named t.trace
  "$winnow" report --json --by file t.trace | grep -q of_one_word.cc || skip "the tiny build cuts names of files"
  local name=and_a_file_with_a_name_of_one_word.cc
  mkdir -p private project other
  seq -f 'secret %.0f' 1 400 >private/$name
  ln -s ../private/$name project/$name
  succeeds html --source --search project t.trace
  says 'no source file was found'
  ! unpack t.html | grep -q SRCS || ! grep -aq secret SRCS.bin || fail "a link leads out of the folder"
  rm -f -- *.bin
  ln -s private linked
  succeeds html --source --search linked t.trace # the folder itself may be a link
  says 'lines of 1 source file'
  mv private/$name .
  (cd other && "$winnow" html --source -o ../t.html ../t.trace >../out) || fail "$(cat out)"
  says 'no source file was found'
  succeeds html --source t.trace # without a folder it is the current one
  says 'lines of 1 source file'
  succeeds html --source --search other t.trace
  says 'no source file was found'
}

damaged_traces_have_pages() {
  make named t.trace
  local size at
  size=$(stat -c %s t.trace)
  head -c $((size / 2)) t.trace >cut.trace
  run html cut.trace
  [ "$code" = 0 ] && unpack cut.html >/dev/null || [ "$code" = 1 ] && [ "$(wc -l <err)" -le 1 ] || fail "cut: code $code: $(cat err)"
  make many t.trace 20000
  size=$(stat -c %s t.trace)
  for at in 3 5 7; do printf '\125\125\125' | dd of=t.trace bs=1 seek=$((size * at / 10)) conv=notrunc status=none; done
  rm -f -- *.bin
  tells_of_damage t.trace html t.trace
  unpack t.html >/dev/null
  grep -Eq 'damaged|partial|missing' t.html || fail "the text hides the damage"
}

large_pages_keep_fewer_samples() {
  make many t.trace 100000
  succeeds html --full t.trace
  local page data
  page=$(($(stat -c %s "$source/viewer/page.html") + $(grep -ao 'id="engine"[^<]*' t.html | wc -c)))
  data=$(($(stat -c %s t.html) - page))
  succeeds html --max-size $((page + data / 2)) t.trace
  says '^t.html \([0-9.]+ [kM]B\): 1 of [0-9]+ samples kept; intervals are wider \(--full keeps all\)'
  [ "$(stat -c %s t.html)" -le $((page + data / 2)) ] || fail "$(stat -c %s t.html) bytes, not $((page + data / 2))"
  unpack t.html >/dev/null
  succeeds html --max-size $((page + data * 9 / 10)) t.trace
  says 'of [0-9]+ samples kept'
  refused 1 'the page needs .* even with few samples' html --max-size 10K t.trace
}
