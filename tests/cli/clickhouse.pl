# A server that the tests of winnow ship take for ClickHouse: perl clickhouse.pl FOLDER.
#
# FOLDER/port is its port, which it takes again when it is started anew, FOLDER/log has the requests.
# The rows of each insertion are in FOLDER/rows/TABLE.ID.N, where ID is that of the query, without the table.
#
# FOLDER/plan has what is to go wrong, a line each: TABLE WHAT, for the next insertion into the table, or "select" for
# the next question. WHAT is
#   a number   it is refused with this status
#   cut        the connection is cut before it is done, drop: after it is done
#   late       the connection is cut, and it is being executed until system.processes has been asked
#   kill, kill_after  the process in FOLDER/pid is killed before it is done, or after
#   die, die_after    the server is, without an answer
#   nonsense   it is answered by a page
#   ok         nothing
use strict;
use warnings;
no warnings 'portable';
use IO::Select;
use IO::Socket::INET;

my $folder = $ARGV[0];
my (%late, $client);
$SIG{PIPE} = 'IGNORE';

sub content { my ($name) = @_; open(my $in, '<:raw', "$folder/$name") or return ''; local $/; my $text = <$in>; return defined $text ? $text : '' }
sub put { my ($name, $text, $mode) = @_; open(my $out, ($mode || '>') . ':raw', "$folder/$name") or die "$name: $!"; print $out $text; close $out }

my $server = IO::Socket::INET->new(Listen => 20, LocalAddr => '127.0.0.1', LocalPort => content('port') || 0, ReuseAddr => 1) or die "no port: $!";
mkdir "$folder/rows";
put('port.new', $server->sockport);
rename "$folder/port.new", "$folder/port";

sub answer {
  my ($status, $text, $header) = @_;
  return defined syswrite $client, "HTTP/1.1 $status X\r\nContent-Length: " . length($text) . "\r\n" . ($header || '') . "\r\n$text";
}

sub execute {
  my ($table, $id, $rows) = @_;
  my $n = 0;
  $n++ while -e "$folder/rows/$table.$id.$n";
  put("rows/$table.$id.$n", $rows);
}

# Takes what is planned for this table from the plan.
sub planned {
  my ($table) = @_;
  my @plan = split /\n/, content('plan');
  return '' unless @plan && $plan[0] =~ /^$table (.*)/;
  my $what = $1;
  shift @plan;
  put('plan', join('', map {"$_\n"} @plan));
  return $what eq 'ok' ? '' : $what;
}

sub kill_ship {
  select undef, undef, undef, 0.01 until -s "$folder/pid";
  my $pid = content('pid');
  unlink "$folder/pid"; # first: the next process may write its own as soon as this one is gone
  kill 'KILL', $pid;
}

sub insert {
  my ($arguments, $body) = @_;
  my ($table) = $arguments->{query} =~ /^INSERT INTO (\w+) \([a-z_,]+\) FORMAT RowBinary$/ or return answer(400, 'Code: 62, no such insertion');
  my ($id, $named) = $arguments->{query_id} =~ /^winnow-([0-9a-f]{16}-[0-9a-f]{16})-(\w+)$/;
  return answer(400, 'Code: 1, wrong arguments')
    unless $named eq $table && $arguments->{decompress} && $arguments->{max_insert_block_size} >= length($body) / 100;
  my ($method, $whole, $size) = unpack 'x16 C L< L<', $body;
  return answer(500, 'Code: 271, a wrong block') unless $method == 2 && $whole == $size + 9 && length($body) == $size + 25;
  my $rows = substr $body, 25;
  my $what = planned($table);
  return answer($what, "Code: 999, e.displayText() = DB::Exception: planned \e[31m, e.what() = DB::Exception\nmore\n", $what == 302 ? "Location: /\r\n" : '')
    if $what =~ /^\d/;
  return answer(200, '<html>') if $what eq 'nonsense';
  kill_ship() if $what eq 'kill';
  exit 0 if $what eq 'die';
  return 0 if $what eq 'cut' || $what eq 'kill';
  $late{"$table.$id"} = [$table, $id, $rows] if $what eq 'late';
  return 0 if $what eq 'late';
  execute($table, $id, $rows);
  kill_ship() if $what eq 'kill_after';
  exit 0 if $what eq 'die_after';
  return $what ? 0 : answer(200, '');
}

sub ask {
  my ($query) = @_;
  my $what = planned('select');
  return answer($what, "Code: 999, planned\n") if $what =~ /^\d/;
  return answer(200, '<html>') if $what eq 'nonsense';
  return answer(200, 'x' x 20_000_000) if $what eq 'large';
  return answer(200, "1\n") if $query eq 'SELECT 1';
  if ($query =~ /FROM system.processes WHERE query_id LIKE 'winnow-([0-9a-f]{16})-%'$/) {
    my $executing = grep {/\.$1-/} keys %late;
    execute(@$_) for values %late;
    %late = ();
    return answer(200, "$executing\n");
  }
  if ($query =~ /^SELECT DISTINCT batch FROM (\w+)(?: PREWHERE time >= toDateTime\(\d+\) AND time <= toDateTime\(\d+\))? WHERE host = '[^']+' AND run = (\d+)/) {
    my %found = map {/-([0-9a-f]+)\.\d+$/ ? (hex($1) => 1) : ()} glob(sprintf '%s/rows/%s.%016x-*', $folder, $1, $2);
    return answer(200, "batch\n" . join('', map {"$_\n"} keys %found));
  }
  answer(400, "Code: 62, $query");
}

# Answers the request that has come on this connection. False: the connection is to be closed.
sub serve {
  my ($head, $body) = @_;
  put('log', "$head\n\n", '>>');
  my ($path) = $head =~ /^POST (\S+) /;
  my %arguments = map {/^(\w+)=(.*)/ ? ($1, $2) : ()} split /[?&]/, $path;
  for (values %arguments) { s/%([0-9A-F]{2})/chr hex $1/ge }
  my $user = content('user');
  my @given = $head =~ /^X-ClickHouse-(?:User|Key): (.*?)\r?$/mg;
  return answer(401, "Code: 193, e.displayText() = DB::Exception: Wrong password\n") if $user && $user ne join(':', @given);
  return answer(404, "Code: 81, e.displayText() = DB::Exception: Database $arguments{database} doesn't exist, e.what() = DB::Exception\n")
    if $arguments{database} ne 'winnow';
  return $arguments{query} ? insert(\%arguments, $body) : ask($body);
}

my $connections = IO::Select->new($server);
my %came;
while (1) {
  for my $ready ($connections->can_read) {
    if ($ready == $server) {
      $connections->add($client) if $client = $server->accept;
      next;
    }
    ($client, $came{$ready}) = ($ready, $came{$ready} // '');
    my $more = sysread $client, $came{$ready}, 65536, length $came{$ready};
    my ($head, $body) = split /\r\n\r\n/, $came{$ready}, 2;
    next if $more && (!defined $body || length $body < ($head =~ /^Content-Length: (\d+)/im)[0]);
    delete $came{$ready};
    next if $more && serve($head, $body);
    $connections->remove($client);
    close $client;
  }
}
# SPDX-License-Identifier: MIT
