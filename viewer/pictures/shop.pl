# A shop: orders come in, are grouped, sorted and printed; some are dropped. The pictures in the README show its memory.
my (%customers, @orders, %by_day);
for my $i (1 .. 60000) { push @orders, { id => $i, customer => "customer " . $i % 5000, day => $i % 365, total => rand 100 } }
for my $order (@orders) { push @{ $customers{ $order->{customer} } }, $order; }
my @sorted = sort { $a->{total} <=> $b->{total} } @orders;
for my $order (@sorted) { $by_day{ $order->{day} } .= join ",", map { "$_=$order->{$_}" } sort keys %$order; }
@sorted = (); 
my $text = join "\n", map { "$_: $by_day{$_}" } sort keys %by_day; %by_day = ();
my %words; $words{$_}++ for split /[^a-z0-9]+/, $text;
undef $text; delete $customers{$_} for grep { /7/ } keys %customers; @orders = grep { $_->{total} > 50 } @orders;
my @report = map { sprintf "%-20s %8.2f", $_->{customer}, $_->{total} } @orders; print scalar(@report), "\n";
