# Runs the tests against mutants: which suites reach which mutants, and whether a suite fails with one of them.
package Judge;
use strict;
use warnings;
use POSIX ();

# Suites that take less run first, in one process.
use constant SHORT => 1.0;

sub new {
  my ($class, %fields) = @_;
  my ($program) = glob "$fields{copy}/.build/debug/*.xctest";
  die "no tests in $fields{copy}\n" unless $program;
  return bless {program => $program, temporary => ($ENV{TMPDIR} || '/tmp') . "/mutants-$$", %fields}, $class;
}

# Lists the suites of some targets and runs each alone. A suite that fails without a mutant is left out.
sub measure {
  my ($self, @targets) = @_;
  my $names = join '|', map quotemeta, @targets;
  open my $listing, '-|', $self->{program}, qw(--testing-library swift-testing --list-tests)
    or die "$self->{program}: $!\n";
  my %suites;
  while (<$listing>) { $suites{$1} = 1 if m{^((?:$names)\.[^/\s]+)} }
  close $listing;
  die "no suites in @targets\n" unless %suites;
  my $record = "$self->{folder}/reached";
  for my $suite (sort keys %suites) {
    # A byte for each mutant.
    open my $marks, '>', $record or die "$record: $!\n";
    truncate $marks, 1 + $self->{greatest} or die "$record: $!\n";
    close $marks;
    my ($result, $seconds) = $self->run([$suite], 900, STORE_MIGRATE_MUTANTS_REACHED => $record);
    if ($result ne 'passed') { print "left out, $result without a mutant: $suite\n"; next }
    $self->{seconds}{$suite} = $seconds;
    my $reached = Schemata::content($record);
    $self->{reaching}{$-[0]}{$suite} = 1 while $reached =~ /\x01/g;
  }
}

# `killed`, `timeout`, `survived` or `unreached`, and the first line of the failure.
sub judge {
  my ($self, $mutant) = @_;
  my $seconds = $self->{seconds};
  my @suites = sort { $seconds->{$a} <=> $seconds->{$b} } keys %{$self->{reaching}{$mutant->{number}}};
  return ('unreached', '') unless @suites;
  for my $part ([grep { $seconds->{$_} < SHORT } @suites], [grep { $seconds->{$_} >= SHORT } @suites]) {
    next unless @$part;
    my $sum = 0;
    $sum += $seconds->{$_} for @$part;
    my ($result, undef, $line) = $self->run($part, 3 * $sum + $self->{patience}, STORE_MIGRATE_MUTANT => $mutant->{number});
    return ($result eq 'failed' ? 'killed' : $result, $line) if $result ne 'passed';
  }
  return ('survived', '');
}

sub now { return (POSIX::times())[0] / POSIX::sysconf(POSIX::_SC_CLK_TCK()) }

# Runs suites in one process and ends it at the first failure; returns the result, the seconds and the failure.
sub run {
  my ($self, $suites, $limit, %environment) = @_;
  my $begin = now();
  mkdir $self->{temporary};
  chmod 01777, $self->{temporary};
  pipe my $reading, my $writing or die "pipe: $!\n";
  my $process = fork // die "fork: $!\n";
  if (!$process) {
    setpgrp 0, 0;
    $ENV{$_} = $environment{$_} for keys %environment;
    $ENV{TMPDIR} = $self->{temporary};
    chdir $self->{copy};
    open STDIN, '<', '/dev/null';
    open STDOUT, '>&', $writing;
    open STDERR, '>&', $writing;
    # A mutant may allocate without limit.
    exec 'sh', '-c', 'ulimit -v 16777216; exec "$@"', 'sh', $self->{program}, qw(--testing-library swift-testing),
      map { ('--filter', '^' . quotemeta($_) . '(?:/|$)') } @$suites
      or die "sh: $!\n";
  }
  close $writing;
  my ($result, $line) = $self->follow($reading, $begin + $limit, $process);
  kill KILL => -$process if $result ne 'ended';
  waitpid $process, 0;
  my $status = $?;
  kill KILL => -$process;
  system 'rm', '-rf', $self->{temporary};
  $result = $status == 0 ? 'passed' : 'failed' if $result eq 'ended';
  $line ||= 'signal ' . ($status & 127) if $result eq 'failed' && $status & 127;
  return ($result, now() - $begin, $line);
}

# Reads the output until the tests end, one fails, or the time is over.
sub follow {
  my ($self, $reading, $end, $process) = @_;
  my $output = '';
  while (1) {
    my $set = '';
    vec($set, fileno $reading, 1) = 1;
    return ('timeout', 'no end in time') if now() > $end;
    if (!select $set, undef, undef, 0.5) {
      # A program that the tests started may keep the pipe open after them.
      return ('ended', '') if has_ended($process);
      next;
    }
    sysread($reading, $output, 65_536, length $output) or return ('ended', '');
    # The mark of a failure is U+2718.
    return ('failed', substr $1, 0, 160)
      if $output =~ /\x{e2}\x{9c}\x{98}\S*\s([^\n]*(?:recorded an issue|failed after)[^\n]*)\n/;
    $output =~ s/.*\n//s;
  }
}

sub has_ended {
  my ($process) = @_;
  open my $status, '<', "/proc/$process/stat" or return 1;
  return (<$status> // '') =~ /\) Z /;
}

1;
