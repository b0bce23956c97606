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
                       for (i = 2; i <= NF; i++) if ($i ~ /@/) line = line " " $i; print line }' | sort >found
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
  ends_well "$winnow" record -q -o trace --rate 1e-2 --seed 1 -- perl shop.pl
  "$winnow" report trace >report
  grep -Eq '^ +(19|20)\.[0-9] MB .* Shop::keep +shop\.pl:3' report || fail "$(cat report)"
  grep -q '< Shop::serve:4' report || fail "$(cat report)"
  grep -q 'Perl.s C functions' report || fail "$(cat report)"
}

# Perl runs `1 .. 200000` and the repetition before the program begins.
constants_have_the_line_that_is_compiled() {
  need_perl
  printf '%s\n' '' 'my $long = "e" x 3000000;' 'my @all = (grep { $_ & 1 } 1 .. 200000);' >constants.pl
  ends_well "$winnow" record -q -o trace --rate 1e-3 --seed 1 -- perl constants.pl
  "$winnow" report --by line trace >report
  grep -Eq ' 3\.00 MB .*[(]compiling[)] [(]constants\.pl:2[)]' report || fail "$(cat report)"
  grep -Eq ' MB .*[(]compiling[)] [(]constants\.pl:3[)]' report || fail "$(cat report)"
  grep -q 'Perl_more_sv\|Perl_sv_grow' report && fail "a row of C: $(cat report)"
  true
}

# C code that calls Perl stands between the calls inside and outside it.
each_activation_of_perls_loop_has_its_calls() {
  need_perl
  perl -MList::Util=first,reduce -e 1 || skip "there is no List::Util"
  cat >nested.pl <<'PERL'
use List::Util qw(first reduce);
package Gone { sub new { bless {} } sub DESTROY { main::take(1) } }
our @kept;
sub take { my $text = "x" x 300000; push @kept, $text; }
sub chosen { take(); 1 }
sub with_block { my $found = first { chosen() } 1, 2; }
sub by_name { take(); $a <=> $b }
sub sorted { my @in = sort by_name 2, 1; }
sub dropped { my $gone = Gone->new; undef $gone; }
sub outer { with_block(); sorted(); dropped(); }
sub plainly { $a <=> $b }
sub merged { my @in = sort plainly reverse 1 .. 60000; } # its buffer is taken within the context of `plainly`, which does not run
outer();
merged();
PERL
  ends_well "$winnow" record -q -o trace --rate 1e-3 --stack-depth 1024 -- perl nested.pl
  "$winnow" export -f folded --show-wrappers -q allocated -o folded trace
  local order
  for order in 'outer.*with_block[^(]*Util.*Perl_runops_standard;main::__ANON__.*chosen.*take' \
    'outer.*sorted.*pp_sort.*by_name.*take' 'outer.*dropped.*Perl_sv_clear.*Gone::DESTROY.*take' \
    '[(]main[)];main::merged;main::plainly;Perl_pp_sort'; do
    grep -qE "$order" folded || fail "no $order in $(grep -E "take|merged" folded)"
  done
  grep -E '(outer|with_block|sorted).*(outer|with_block|sorted).*\1' folded && fail "a call stands twice"
  ! grep -E '^([(]main[)]|[(]compiling[)]|main::)' folded || fail "the program's start is not outermost"
}

recorded_perl_programs_do_as_without() {
  need_perl
  local program
  for program in 'print join(",", sort { $b <=> $a } map { $_ ** 2 } 1 .. 200), "\n"' \
    'use threads; print join(",", map { $_->join } map { threads->create(sub { "x" x (1000 * $_[0]) }, $_) } 1 .. 8) =~ tr/x//, "\n"' \
    'fork // die; wait; print "x" x 3, "\n"; exit 3' \
    'local $SIG{ALRM} = sub { push @a, "y" x 1000 }; alarm 1; $x .= "z" x 10 while @a < 1; print "woken\n"' \
    'use utf8; binmode STDOUT, ":utf8"; sub ärger { "x" x 1000 } print length ärger(), "\n"' \
    '*Long::Name:: = *Shop::; { package Shop; sub f { "y" x $_[0] } } $s .= Shop::f($_) for 1 .. 300; print length $s, "\n"' \
    'my $f = eval "sub { die q(out) . qq(\n) }"; { my $g = $f; undef $f; eval { $g->() }; print $@ }' \
    'sub once { no warnings; *once = sub { "new\n" }; goto &once } print once(), once()' \
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
