# Calls of Perl's subroutines on callstacks.

need_perl() {
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  perl -MConfig -e 'exit !($^V =~ /^v5\.36\./ && $Config{usethreads})' 2>/dev/null || skip "there is no perl 5.36 with threads"
}

calls_of_perl_are_those_that_it_tells() {
  need_perl
  ends_well "$winnow" record -q -o trace --rate 1e-3 --stack-depth 1024 -- perl "$here/programs/calls.pl"
  "$winnow" dump trace 2>/dev/null | sed -nE 's/^.* (sample|resize) stack=[0-9]+ block=[0-9]+ size=([0-9]+) [^:]*: (.*)$/\2 \3/p' |
    awk '$1 > 200000 { line = int(($1 - 200000) / 64) * 64 + 200000
                       for (i = 2; i <= NF; i++) if ($i ~ /@/ || $i ~ /^[0-9]+\):[0-9]+$/) line = line " " $i; print line }' | sort >found
  sort calls >expected
  [ "$(wc -l <expected)" -ge 300 ] || fail "$(wc -l <expected) lines"
  comm -23 expected found >missing
  [ -s missing ] && fail "$(wc -l <missing) of $(wc -l <expected) lines differ: $(head -c 1000 missing)"
  true
}

rows_of_perl_are_its_lines() {
  need_perl
  cat >shop.pl <<'PERL'
package Shop;
my @kept;
sub keep { my $text = "x" x $_[0]; push @kept, $text; }
sub serve { keep(10000) for 1 .. $_[0]; }
package main;
Shop::serve(2000);
PERL
  ends_well "$winnow" record -q -o trace --rate 1e-3 -- perl shop.pl
  "$winnow" report trace >report
  grep -Eq '^ +(19|20)\.[0-9] MB .* Shop::keep +shop\.pl:3' report || fail "$(cat report)"
  grep -q '< Shop::serve:4' report || fail "$(cat report)"
  grep -q 'Perl.s C functions' report || fail "$(cat report)"
}

recorded_perl_programs_do_as_without() {
  [ "$tiny" = 0 ] || skip "blocks get lost in tiny tables"
  need perl
  local program
  for program in 'print join(",", sort { $b <=> $a } map { $_ ** 2 } 1 .. 200), "\n"' \
    'use threads; print join(",", map { $_->join } map { threads->create(sub { "x" x (1000 * $_[0]) }, $_) } 1 .. 8) =~ tr/x//, "\n"' \
    'fork // die; wait; print "x" x 3, "\n"; exit 3' \
    'local $SIG{ALRM} = sub { push @a, "y" x 1000 }; alarm 1; $x .= "z" x 10 while @a < 1; print "woken\n"' \
    'die "no\n"' 'eval { die "in\n" }; print $@; eval "1 +"; print $@ ? "bad\n" : ""; do "/nowhere"; exit 2'; do
    for rate in 1 1e-3; do same_as_bare $rate perl -e "$program"; done
  done
}

# The array of contexts grows, and moves, while its growth is sampled; interpreters end, and others begin.
perl_is_not_read_where_it_is_gone() {
  need_perl
  cat >deep.pl <<'PERL'
use threads;
no warnings 'recursion';
sub deep { my ($n, $text) = (shift, "x" x 100); $n ? 1 + deep($n - 1) : 0 }
sub dying { my $n = shift; $n ? 1 + dying($n - 1) : die "deep\n" }
package Last { sub new { bless {} } sub DESTROY { my $text = "y" x 5000; main::deep(10); } }
our $last = Last->new;
print deep(8000), "\n";
eval { dying(2000) }; print $@;
print join(",", map { $_->join } map { threads->create(sub { our $own = Last->new; deep(3000) }) } 1 .. 4), "\n";
END { deep(100) }
PERL
  # glibc fills what is free with what says that it is a call.
  for rate in 1 1e-2; do same_as_bare $rate env MALLOC_PERTURB_=9 MALLOC_MMAP_THRESHOLD_=33554432 perl deep.pl; done
}
