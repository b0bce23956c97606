# Writes "SIZE NAME@FILE:LINE ..." for each block that it allocates, callers first, to the file `calls`: what Perl tells of
# its calls itself. A block is 8 to 63 bytes larger than SIZE.
use strict; use warnings;
package Shop;
our ($size, @kept, @lines) = (200000);
sub note { # the stack of the caller, innermost first; its first line is given
  my ($bytes, $line) = @_;
  my ($text, $at, $file) = ("$bytes", 1, (caller(0))[1]);
  my @names = ();
  for (my $i = 1; ; $i++) {
    my @call = caller($i);
    my $sub = @call ? $call[3] : '(main)';
    next if @call && $sub eq '(eval)' && !defined $call[6] && !defined $call[7];
    $sub = '(eval)' if @call && $sub eq '(eval)';
    push @names, $sub;
    last unless @call;
  }
  my @where = ([$file, $line]);
  for (my $i = 1; ; $i++) {
    my @call = caller($i) or last;
    next if $call[3] eq '(eval)' && !defined $call[6] && !defined $call[7];
    push @where, [@call[1, 2]];
  }
  $_->[0] =~ s/^\(eval \d+\)$/(eval)/ for @where;
  for my $i (reverse 0 .. $#names) { $text .= " $names[$i]\@$where[$i][0]:$where[$i][1]"; }
  push @lines, $text;
}
sub take { my $n = $size += 64; push @kept, "x" x $n; note($n, __LINE__); }
sub deep { my $n = shift; $n ? deep($n - 1) : take() }
my $anonymous = sub { take() };
sub in_block { eval { take(); 1 } or die; for my $i (1 .. 2) { take() } }
sub in_string { eval 'take(); 1' or die }
sub in_sort { my @a = sort { take(); $a <=> $b } 3, 2, 1; }
sub leave { goto &take }
sub in_map { my @a = map { take() } 1 .. 3; }
package Tied; sub TIESCALAR { bless [] } sub FETCH { Shop::take(); 1 }
package Gone; sub new { bless [] } sub DESTROY { Shop::take() }
package Over; use overload '+' => sub { Shop::take(); 1 }; sub new { bless [] }
package main;
Shop::take();
for my $round (1 .. 20) {
  Shop::deep($round);
  $anonymous->();
  Shop::in_block(); Shop::in_string(); Shop::in_sort(); Shop::in_map();
  tie my $t, 'Tied'; my $v = $t;
  { my $g = Gone->new }
  my $o = Over->new; $v = $o + 1;
  &Shop::take;
  Shop::leave();
}
open my $out, '>', 'calls' or die;
print $out "$_\n" for @Shop::lines;
