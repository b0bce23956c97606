# Strings, lists and hashes, as scripts have them: counts the letter triples of made-up words.
use strict;
use warnings;
my ($state, %count, %words) = (12345);
sub random { $state = ($state * 1103515245 + 12345) % 2147483648; return int($state / 65536) % $_[0] }
for my $i (1 .. 300000) {
  my $word = join '', map { chr(97 + random(26)) } 1 .. 4 + random(6);
  push @{$words{length $word}}, $word if $i % 4 == 0;
  $count{substr $word, $_, 3}++ for 0 .. length($word) - 3;
}
my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
my $lines = join "\n", map { "$_ $count{$_}" } @top;
print scalar(@top), ' ', length($lines), ' ', scalar(map { @$_ } values %words), "\n";
