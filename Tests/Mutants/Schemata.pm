# One copy of the package that contains many mutants, of which STORE_MIGRATE_MUTANT=NUMBER enables one at run time.
package Schemata;
use strict;
use warnings;
use File::Path qw(make_path);

my @roots = qw(Package.swift Package.resolved Sources Tests Plugins Fixtures);

sub new {
  my ($class, %fields) = @_;
  make_path("$fields{copy}/.build");
  return bless {log => "$fields{copy}/.build/mutants.log", %fields}, $class;
}

# Writes and builds the copy; leaves out the mutants that the compiler rejects, and returns the others. A file keeps the rejected
# ones for the next run, in which those of unchanged sources are left out at once.
sub build {
  my ($self, @mutants) = @_;
  my %known = map { $_ => 1 } split /\n/, content("$self->{folder}/rejected") // '';
  @mutants = grep { !$known{$self->identity($_)} } @mutants;
  for my $round (1 .. 30) {
    $self->write(@mutants);
    # The modules first: what does not compile is found before anything else is built.
    my $is_built = 1;
    $is_built &&= $self->run('--target', $_) for @{$self->{modules}};
    return @mutants if $is_built && $self->run('--build-tests');
    my @wrong = $self->rejected(@mutants) or die "the copy does not build, see $self->{log}\n";
    my %is_wrong = map { $_->{number} => 1 } @wrong;
    open my $list, '>>', "$self->{folder}/rejected" or die "$self->{folder}/rejected: $!\n";
    print {$list} $self->identity($_), "\n" for @wrong;
    close $list or die "$self->{folder}/rejected: $!\n";
    @mutants = grep { !$is_wrong{$_->{number}} } @mutants;
    printf STDERR "round %d: the compiler rejects %d mutants, %d remain\n", $round, scalar @wrong, scalar @mutants;
  }
  die "the copy does not build after 30 rounds, see $self->{log}\n";
}

# The mutant, and the length and checksum of its file.
sub identity {
  my ($self, $mutant) = @_;
  my $path = "$self->{package}/$mutant->{file}";
  my $sum = $self->{sums}{$path} //= do { my $text = content($path); length($text) . '-' . unpack '%64C*', $text };
  return "$sum\t$mutant->{key}";
}

sub run {
  my ($self, @options) = @_;
  my $process = fork // die "fork: $!\n";
  if (!$process) {
    chdir $self->{copy} or die "$self->{copy}: $!\n";
    open STDOUT, '>', $self->{log} or die "$self->{log}: $!\n";
    open STDERR, '>&', \*STDOUT;
    exec 'swift', 'build', @options or die "swift: $!\n";
  }
  waitpid $process, 0;
  return $? == 0;
}

# Makes the copy equal to the package, except for the mutated files. A file without changes is left alone, so that only
# changed files are compiled.
sub write {
  my ($self, @mutants) = @_;
  my (%of, %wanted);
  push @{$of{$_->{file}}}, $_ for @mutants;
  $self->{rendered} = {};
  for my $path (listing($self->{package})) {
    $wanted{$path} = 1;
    my $text = $of{$path} ? $self->render($path, $of{$path}) : content("$self->{package}/$path");
    put("$self->{copy}/$path", $text, -x "$self->{package}/$path" && !-l "$self->{package}/$path");
  }
  for my $support (map { "Sources/$_/MutantSwitch.swift" } @{$self->{modules}}) {
    put("$self->{copy}/$support", support(), 0);
    $wanted{$support} = 1;
  }
  unlink map { "$self->{copy}/$_" } grep { !$wanted{$_} } listing($self->{copy});
}

sub listing {
  my ($folder) = @_;
  my @present = grep { -e "$folder/$_" } @roots or return;
  my $process = open my $paths, '-|' // die "find: $!\n";
  if (!$process) {
    chdir $folder or die "$folder: $!\n";
    exec 'find', @present, '-name', '.build', '-prune', '-o', '!', '-type', 'd', '-print0' or die "find: $!\n";
  }
  local $/ = "\0";
  chomp(my @paths = <$paths>);
  close $paths or die "cannot list $folder\n";
  return @paths;
}

# The content of a file, or the target of a symbolic link after a NUL.
sub content {
  my ($path) = @_;
  return "\0" . readlink $path if -l $path;
  open my $file, '<:raw', $path or return undef;
  local $/;
  return <$file> // '';
}

sub put {
  my ($path, $text, $is_program) = @_;
  my $present = content($path);
  return if defined $present && $present eq $text;
  make_path($path =~ s{/[^/]*$}{}r);
  unlink $path;
  if ($text =~ /^\0(.*)/s) { symlink $1, $path or die "$path: $!\n"; return }
  open my $file, '>:raw', $path or die "$path: $!\n";
  print {$file} $text or die "$path: $!\n";
  close $file or die "$path: $!\n";
  chmod 0755, $path if $is_program;
}

# The text of a file with its mutants; holes nest or are disjoint, and a mutant whose hole crosses another is left out.
sub render {
  my ($self, $path, $mutants) = @_;
  my $text = content("$self->{package}/$path");
  my %holes;
  for my $mutant (@$mutants) { push @{$holes{"$_->{start}-$_->{end}"}}, {%$_, mutant => $mutant} for @{$mutant->{holes}} }
  my @groups = map { $holes{$_} } keys %holes;
  @groups = sort { $a->[0]{start} <=> $b->[0]{start} || $b->[0]{end} <=> $a->[0]{end} } @groups;
  my $state = {text => $text, groups => \@groups, at => 0, out => '', marks => []};
  fill($state, 0, length $text);
  $self->{rendered}{$path} = $state;
  return $state->{out};
}

# Appends a range with the holes in it.
sub fill {
  my ($state, $at, $end) = @_;
  while (my $group = $state->{groups}[$state->{at}]) {
    my ($start, $stop) = @{$group->[0]}{qw(start end)};
    last if $start >= $end;
    $state->{at}++;
    next if $start < $at || $stop > $end;
    $state->{out} .= substr $state->{text}, $at, $start - $at;
    hole($state, $group, $start, $stop);
    $at = $stop;
  }
  $state->{out} .= substr $state->{text}, $at, $end - $at;
}

sub hole {
  my ($state, $group, $start, $stop) = @_;
  my $opening = length $state->{out};
  my ($statement) = grep { ($_->{kind} // '') eq 'statement' } @$group;
  my @others = grep { ($_->{kind} // '') ne 'statement' } @$group;
  $state->{out} .= "if !mutantIsEnabled($statement->{mutant}{number}) { " if $statement;
  $state->{out} .= '(' if @others;
  for my $hole (@others) {
    my $from = length $state->{out};
    $state->{out} .= "mutantIsEnabled($hole->{mutant}{number}) ? ($hole->{text}) : ";
    push @{$state->{marks}}, [$from, length $state->{out}, $hole->{mutant}];
  }
  $state->{out} .= '(' if @others;
  fill($state, $start, $stop);
  $state->{out} .= '))' if @others;
  $state->{out} .= ' }' if $statement;
  push @{$state->{marks}}, [$opening, length $state->{out}, $_->{mutant}] for @$group;
}

# The mutants that the errors in the log are about: the innermost one at the place of an error. An error outside all mutants may
# follow from one inside; in a file without other errors, it is about the mutants in the innermost braces around it.
sub rejected {
  my ($self, @mutants) = @_;
  my (%wrong, %seen, %unclear);
  for my $line (split /\n/, content($self->{log})) {
    my ($path, $row, $column) = $line =~ m{^\Q$self->{copy}\E/(\S+\.swift):(\d+):(\d+): error:} or next;
    my $state = $self->{rendered}{$path} or next;
    next if $seen{"$path:$row:$column"}++;
    my $at = place($state->{out}, $row, $column);
    my ($inner) = sort { $a->[1] - $a->[0] <=> $b->[1] - $b->[0] } grep { $at >= $_->[0] && $at < $_->[1] } @{$state->{marks}};
    if ($inner) { $wrong{$path}{$inner->[2]{number}} = $inner->[2] } else { $unclear{$path}{$at} = 1 }
  }
  for my $path (grep { !$wrong{$_} } keys %unclear) {
    for my $at (keys %{$unclear{$path}}) {
      $wrong{$path}{$_->{number}} = $_ for around($self->{rendered}{$path}, $at);
    }
  }
  return map { values %$_ } values %wrong;
}

# Columns count bytes, as the text here does.
sub place {
  my ($text, $row, $column) = @_;
  my $at = 0;
  $at = 1 + index $text, "\n", $at for 2 .. $row;
  return $at + $column - 1;
}

sub around {
  my ($state, $at) = @_;
  my $code = Places::masked($state->{out});
  my ($start, $end) = ($at) x 2;
  while ($start > 0) {
    my $depth = 0;
    while (--$start > 0) {
      my $character = substr $code, $start, 1;
      $depth++ if $character eq '}' && $start != $at;
      last if $character eq '{' && $depth-- == 0;
    }
    my $close = 0;
    for ($end = $start + 1; $end < length $code; $end++) {
      my $character = substr $code, $end, 1;
      $close++ if $character eq '{';
      last if $character eq '}' && $close-- == 0;
    }
    my @inside = grep { $_->[0] >= $start && $_->[1] <= $end + 1 } @{$state->{marks}};
    # What leaves out statements breaks the flow of control; the others are blamed when there is no such mutant.
    my @leaving = grep { $_->[2]{operator} =~ /^no-(?!value)/ } @inside;
    return map { $_->[2] } @leaving ? @leaving : @inside if @inside;
  }
  return;
}

# The switch, in each mutated module: cheap, because a mutant may be in a loop over bytes. Reached mutants are marked in a
# mapped file, which also a thread without access to the file can do.
sub support {
  return <<'END';
import Glibc

private let enabledMutant = getenv("STORE_MIGRATE_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

nonisolated(unsafe) private let reachedMutants: UnsafeMutablePointer<UInt8>? = {
    guard let path = getenv("STORE_MIGRATE_MUTANTS_REACHED") else { return nil }
    let file = open(path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return nil }
    let bytes = mmap(nil, Int(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    return bytes == MAP_FAILED ? nil : bytes?.assumingMemoryBound(to: UInt8.self)
}()

/// True for the enabled mutant. Marks each mutant that the process reaches in a file, if the environment names one.
@inline(never)
func mutantIsEnabled(_ number: Int) -> Bool {
    reachedMutants?[number] = 1
    return number == enabledMutant
}
END
}

1;
