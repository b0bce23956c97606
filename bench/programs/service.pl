# A worker as Perl has them: for so many seconds it parses lines, counts them in hashes, sorts, and writes a report, twice a second.
use strict;
use warnings;
use Time::HiRes qw(sleep time);
my ($until, %seen, @recent) = (time() + shift);
sub line { join ' ', int(rand 256) . '.' . int(rand 256), (qw(GET POST PUT))[rand 3], '/' . join('/', map { int rand 40 } 0 .. rand 4), 200 + int rand 300 }
sub parse { my %row; @row{qw(host verb path code)} = $_[0] =~ /^(\S+) (\S+) (\S+) (\d+)$/ or die; \%row }
sub report {
  my %of;
  push @{$of{$_->{verb}}{$_->{path}}}, $_->{code} for @_;
  return join "\n", map { my $verb = $_; map { sprintf '%s %s %d', $verb, $_, scalar @{$of{$verb}{$_}} } sort keys %{$of{$verb}} } sort keys %of;
}
while (time() < $until) {
  my @rows = map { parse(line()) } 1 .. 3000;
  $seen{"$_->{host} $_->{path}"}++ for @rows;
  delete @seen{(keys %seen)[0 .. 20000]} if keys %seen > 100000;
  push @recent, report(@rows);
  shift @recent if @recent > 100;
  sleep 0.5;
}
