# The places of a Swift source where a mutant can be made, by text rules for code that `swift format` has formatted.
#
# A mutant has an operator, the line that it starts on, its change for a reader, and holes: ranges of the text, each with the
# text that replaces it. A hole of the kind `statement` is a statement to leave out. The compiler rejects some mutants, for
# example a swap of arguments with different types.
package Places;
use strict;
use warnings;

# The longest range that is written twice: longer ones contain closures, which cost the type checker seconds.
use constant LONGEST => 800;
my $keyword = qr/(?:if|guard|while|for|switch|return|throw|let|var|func|case|default|do|defer|init|deinit|subscript|struct
  |enum|class|extension|import|package|private|fileprivate|public|static|mutating|repeat|catch|else|precondition
  |preconditionFailure|fatalError|assert|typealias|protocol|actor|nonisolated|continue|break|log|logger|unsafe|lazy|weak)\b/x;

# After these words an expression starts.
my $starter = qr/return|if|guard|while|where|in|case|else|throw|try[?!]?|await/;

# All mutants of a source, in the order of their first hole.
sub find {
  my ($text) = @_;
  my $self = bless {text => $text, code => masked($text), mutants => [], taken => {}}, __PACKAGE__;
  $self->match_brackets;
  $self->find_declarations;
  $self->find_conditions;
  $self->comparisons;
  $self->defaults;
  $self->conditions;
  $self->answers;
  $self->literals;
  $self->statements;
  $self->swaps;
  return sort { $a->{holes}[0]{start} <=> $b->{holes}[0]{start} || $a->{operator} cmp $b->{operator} } @{$self->{mutants}};
}

# The text with comments as spaces, and string literals as one word without line ends.
sub masked {
  my ($text) = @_;
  my $code = '';
  my $literal = qr/(?<raw>\#*)(?:
    """(?:\\\k<raw>.|(?!"""\k<raw>).)*"""
    |"(?:\\\k<raw>\((?<in>[^()"]|\((?&in)*\)|"[^"\n]*")*\)|\\\k<raw>.|(?!"\k<raw>)[^\n])*")\k<raw>/xs;
  while ($text !~ /\G\z/gc) {
    if ($text =~ m{\G(//[^\n]*)}gc) { $code .= ' ' x length $1 }
    elsif ($text =~ m{\G(/\*.*?\*/)}gcs) { $code .= $1 =~ s/[^\n]/ /gr }
    elsif ($text =~ /\G($literal)/gc) { $code .= 'S' x length $1 }
    else { $text =~ /\G(.)/gcs; $code .= $1 }
  }
  return $code;
}

# Notes the partner of each bracket, and for each character the bracket that encloses it.
sub match_brackets {
  my ($self) = @_;
  my (@open, %partner, @around);
  while ($self->{code} =~ /([(\[{])|([)\]}])/g) {
    my $at = $-[0];
    if (defined $1) { push @open, $at }
    elsif (@open) { my $start = pop @open; $partner{$start} = $at; $partner{$at} = $start }
  }
  my @stack = (-1);
  for my $at (0 .. length($self->{code}) - 1) {
    my $character = substr $self->{code}, $at, 1;
    pop @stack if $character =~ /[)\]}]/ && exists $partner{$at};
    $around[$at] = $stack[-1];
    push @stack, $at if $character =~ /[(\[{]/ && exists $partner{$at};
  }
  @$self{qw(partner around)} = (\%partner, \@around);
}

# Ranges without mutants: parameters, attributes, preconditions, and what is said to a log.
sub find_declarations {
  my ($self) = @_;
  my @ranges;
  my $silent = qr/\bfunc\s+[^\s(]+|\binit[?]?(?:<[^>]*>)?|\bsubscript|@\w+|\blog(?:ger)?\??\.\w+
    |\b(?:precondition|preconditionFailure|assert|fatalError)/x;
  while ($self->{code} =~ /(?:$silent)\s*\(/g) {
    my $end = $self->{partner}{$+[0] - 1} or next;
    next if substr($self->{code}, 0, $-[0]) =~ /\.$/;
    push @ranges, [$-[0], $end];
  }
  $self->{silent} = \@ranges;
  while ($self->{code} =~ /(?<![.\w])init[?]?(?:<[^>]*>)?\(/g) {
    my $end = $self->{partner}{$+[0] - 1} or next;
    $self->{initializers}{$end + $+[0] - 1} = 1 if substr($self->{code}, $end) =~ /^\)[^{}]*\{/;
  }
}

sub is_silent { my ($self, $at) = @_; return grep { $at >= $_->[0] && $at <= $_->[1] } @{$self->{silent}} }

# The ranges of conditions, from the keyword to the brace of the body.
sub find_conditions {
  my ($self) = @_;
  my ($code, @found) = $self->{code};
  while ($code =~ /(?<![#\w.`])(if|guard|while|switch|for|catch)(?=\s)/g) {
    my ($word, $start, $at) = ($1, $+[0], $+[0]);
    while ($at < length $code) {
      my $character = substr $code, $at, 1;
      if ($character =~ /[(\[]/ && $self->{partner}{$at}) { $at = $self->{partner}{$at} + 1; next }
      if ($character eq '{') {
        last if $word ne 'guard' || substr($code, 0, $at) =~ /\belse\s*$/;
        $at = ($self->{partner}{$at} // last) + 1;
        next;
      }
      last if $character =~ /[)\]}]/ || $word eq 'while' && $character eq "\n" && $self->ends_statement($at);
      $at++;
    }
    my $end = $at;
    $end -= length $1 if $word eq 'guard' && substr($code, 0, $at) =~ /(\belse\s*)$/;
    push @found, {word => $word, start => $start, end => $end};
  }
  $self->{conditions} = \@found;
}

sub in_condition {
  my ($self, $at) = @_;
  my @around = grep { $at >= $_->{start} && $at < $_->{end} } @{$self->{conditions}};
  my ($best) = sort { $b->{start} <=> $a->{start} } @around;
  # A condition in brackets inside may have trailing closures.
  return $best && ($self->{around}[$at] < $best->{start}) ? $best : undef;
}

# True if a statement can end at this line end: neither of the lines continues the other.
sub ends_statement {
  my ($self, $at) = @_;
  return 0 if $self->{around}[$at] >= 0 && substr($self->{code}, $self->{around}[$at], 1) ne '{';
  my $rest = substr $self->{code}, $at;
  return 0 if $rest =~ /^\s*(?:[.?:]|&&|\|\||\?\?|[-+*\/<>=!&|^%]+\s|is\b|as\b)/;
  my $before = substr $self->{code}, 0, $at;
  return $before !~ /(?:[-+*\/<>=&|?:,(\[]|\b(?:in|return|try))\s*$/ || $before =~ /\w[?]\s*$/;
}

# The range of the operand on one side of an operator: up to a weaker operator, a keyword, or a bracket.
sub operand {
  my ($self, $at, $step, $stops) = @_;
  my $code = $self->{code};
  my $end = $at;
  my $condition = $self->in_condition($at);
  while (($step < 0 ? $at > 0 : $at < length $code)) {
    my $next = $step < 0 ? $at - 1 : $at;
    my $character = substr $code, $next, 1;
    if ($step < 0 ? $character =~ /[)\]}]/ : $character =~ /[(\[{]/) {
      last if $character eq '{' && $condition;
      last if $character eq '}' && ($condition
        || substr($code, $next + 1, $end - $next - 1) =~ /^\s*\n/ && $self->ends_statement($next + 1));
      my $partner = $self->{partner}{$next} // last;
      $at = $step < 0 ? $partner : $partner + 1;
      next;
    }
    last if $character =~ /[()\[\]{},;]/;
    last if $character eq "\n" && $self->ends_statement($next);
    if ($character eq ' ' || $character eq "\n") {
      my $near = $step < 0 ? substr($code, 0, $next + 1) : substr($code, $next);
      last if $step < 0
        ? $near =~ /(?:(?:^|[\s(\[{])(?:$starter|[-+*\/|&^%]?=|\?|$stops)|:)\s+$/
        : $near =~ /^\s+(?:\?|:|[-+*\/|&^%]?=|else|where|in|$stops)(?:\s|$)/;
    }
    last if $character eq ':' && $step > 0 && substr($code, $next, 2) =~ /:\s/;
    $at += $step;
  }
  my $piece = $step < 0 ? substr($code, $at, $end - $at) : substr($code, $end, $at - $end);
  return $step < 0 ? $at + length(($piece =~ /^(\s*)/)[0]) : $at - length(($piece =~ /(\s*)$/)[0]);
}

# Adds a mutant with one hole, once for each range and text.
sub add {
  my ($self, $operator, $start, $end, $text, %more) = @_;
  return if $end <= $start || $end - $start > LONGEST || $self->is_silent($start);
  my $before = substr $self->{text}, $start, $end - $start;
  return if $before eq $text || $self->{taken}{"$start-$end-$text"}++;
  my $after = $text eq '' ? '(nothing)' : squeezed($text);
  $self->add_holes($operator, squeezed($before), $after, {start => $start, end => $end, text => $text, %more});
}

sub add_holes {
  my ($self, $operator, $before, $after, @holes) = @_;
  my $start = $holes[0]{start};
  my $line_start = 1 + rindex $self->{text}, "\n", $start - 1;
  my ($line) = substr($self->{text}, $line_start) =~ /^\s*([^\n]*?)\s*(?:\n|\z)/;
  push @{$self->{mutants}}, {
    operator => $operator, holes => \@holes, source => $line, change => "$before => $after",
    line => 1 + substr($self->{text}, 0, $start) =~ tr/\n//,
  };
}

sub squeezed { return $_[0] =~ s/\s+/ /gr }

# Each of these operators becomes its neighbor.
my %other = ('<' => '<=', '<=' => '<', '>' => '>=', '>=' => '>', '==' => '!=', '!=' => '==', '&&' => '||', '||' => '&&',
  '===' => '!==', '!==' => '===');
my $comparing = qr/[<>!=]=?=?|[!=]==/;

sub comparisons {
  my ($self) = @_;
  while ($self->{code} =~ /(?<=\s)(<=?|>=?|==|!=|===|!==|&&|\|\|)(?=\s)/g) {
    my ($operator, $at, $after) = ($1, $-[0], $+[0]);
    my ($left, $right) = $operator eq '||' ? ('(?!)', '\|\|')
      : $operator eq '&&' ? ('\|\|', '\|\||&&') : ('\|\||&&', '\|\||&&');
    my ($start, $end) = ($self->operand($at, -1, $left), $self->operand($after, 1, $right));
    my $text = substr($self->{text}, $start, $at - $start) . $other{$operator} . substr $self->{text}, $after, $end - $after;
    $self->add($operator =~ /&&|\|\|/ ? 'logic' : $operator =~ /[!=]=/ ? 'equality' : 'boundary', $start, $end, $text);
    # Of a comparison, negating is the other half of what a boundary may get wrong.
    $self->{negated}{"$start-$end"} = 1 if $operator =~ /^[!=]=/;
  }
}

sub defaults {
  my ($self) = @_;
  my $stops = qr/\|\||&&|$comparing|\?\?/;
  while ($self->{code} =~ /(?<=\s)\?\?(?=\s)/g) {
    my ($at, $after) = ($-[0], $+[0]);
    my ($start, $end) = ($self->operand($at, -1, $stops), $self->operand($after, 1, qr/\|\||&&|$comparing/));
    $self->add('default', $start, $end, substr($self->{text}, $after, $end - $after) =~ s/^\s+//r);
  }
}

# Negates each element of a condition, and lets each optional binding fail.
sub conditions {
  my ($self) = @_;
  for my $condition (@{$self->{conditions}}) {
    next if $condition->{word} =~ /switch|for|catch/;
    my ($from, $at) = ($condition->{start}) x 2;
    while ($at <= $condition->{end}) {
      my $character = $at == $condition->{end} ? ',' : substr $self->{code}, $at, 1;
      if ($character =~ /[(\[{]/ && $self->{partner}{$at}) { $at = $self->{partner}{$at} + 1; next }
      if ($character eq ',') { $self->element($from, $at); $from = $at + 1 }
      $at++;
    }
  }
  while ($self->{code} =~ /(?<=\s)\?(?=\s)/g) {
    my $at = $-[0];
    $self->negate($self->operand($at, -1, '(?!)'), $at - length(substr($self->{code}, 0, $at) =~ /(\s*)$/ ? $1 : ''));
  }
}

sub element {
  my ($self, $start, $end) = @_;
  my $piece = substr $self->{code}, $start, $end - $start;
  $start += length(($piece =~ /^(\s*)/)[0]);
  $end -= length(($piece =~ /(\s*)$/)[0]);
  return if $end <= $start;
  $piece = substr $self->{code}, $start, $end - $start;
  if ($piece =~ /^(?:let|var) \w+(?:: [^=]+)? = /) { return $self->add('no-value', $start + $+[0], $end, 'nil') }
  return if $piece =~ /^(?:let|var|case|#|_)\b/ || $piece =~ /^(?:case|#)/;
  $start += length $1 if $piece =~ /^((?:try|await) )/;
  $self->negate($start, $end);
}

sub negate {
  my ($self, $start, $end) = @_;
  return if $self->{negated}{"$start-$end"}++;
  my $text = substr $self->{text}, $start, $end - $start;
  return if $text =~ /^(?:true|false)$/;
  $self->add('negate', $start, $end, $text =~ /^!([\w.]+)$/ ? $1 : $text =~ /^[\w.]+$/ ? "!$text" : "!($text)");
}

# Inverts what functions and properties of the type Bool return.
sub answers {
  my ($self) = @_;
  while ($self->{code} =~ /(?:->|:) Bool \{/g) {
    my ($open, $close) = ($+[0] - 1, $self->{partner}{$+[0] - 1});
    next unless $close;
    my $body = substr $self->{code}, $open + 1, $close - $open - 1;
    while ($body =~ /\breturn (?:try )?(?=[^\s}])/g) {
      my $start = $open + 1 + $+[0];
      my $end = $self->statement_end($start);
      $self->negate_answer($start, $end);
    }
    next unless $body =~ /^(\s*(?:try )?)(?!$keyword)(?=\S)/;
    my $start = $open + 1 + length $1;
    my $end = $self->statement_end($start);
    $self->negate_answer($start, $end) if substr($self->{code}, $end, $close - $end) =~ /^\s*$/;
  }
}

sub negate_answer {
  my ($self, $start, $end) = @_;
  return if substr($self->{code}, $start, $end - $start) =~ /^(?:true|false|switch\b.*|if\b.*)$/s;
  $self->negate($start, $end);
}

# Boolean literals, and what is added or subtracted to reach a neighbor.
sub literals {
  my ($self) = @_;
  # After a loop over `true`, the compiler requires no `return`.
  while ($self->{code} =~ /(?<![\w.`])(?<!while )(true|false)\b/g) {
    $self->add('constant', $-[0], $+[0], $1 eq 'true' ? 'false' : 'true');
  }
  while ($self->{code} =~ /(?<=\s)[-+]=? (1)(?![\w.])/g) { $self->add('one', $-[1], $+[1], '0') }
}

sub statement_end {
  my ($self, $start) = @_;
  my ($code, $at) = ($self->{code}, $start);
  my $condition = $self->in_condition($start);
  while ($at < length $code) {
    my $character = substr $code, $at, 1;
    last if $character eq '{' && $condition || $character =~ /[)\]};]/ || $character eq "\n" && $self->ends_statement($at);
    if ($character =~ /[(\[{]/ && $self->{partner}{$at}) { $at = $self->{partner}{$at} + 1; next }
    $at++;
  }
  return $at - length((substr($code, $start, $at - $start) =~ /(\s*)$/)[0]);
}

# Leaves out calls, assignments, throws and early exits.
sub statements {
  my ($self) = @_;
  while ($self->{code} =~ /(?:^[ ]*|\{ (?:[^\n{}]* in )?|(?:\bcase [^\n{}]*?|\bdefault): )(?=[\w_(])/gm) {
    my $start = $+[0];
    next if $self->{around}[$start] < 0 || substr($self->{code}, $self->{around}[$start], 1) ne '{';
    my $before = substr $self->{code}, 0, $start;
    next if $before =~ /\n[ ]*$/ && !$self->ends_statement($-[0]) && $before !~ /:\s*\n[ ]*$/;
    next if $self->in_condition($start);
    my $end = $self->statement_end($start);
    my $statement = substr $self->{code}, $start, $end - $start;
    my $operator = $self->kind($statement, $before) // next;
    $self->add($operator, $start, $end, '', kind => 'statement') unless $statement =~ /\breserveCapacity\b/;
  }
}

sub kind {
  my ($self, $statement, $before) = @_;
  my $is_guard = $before =~ /(?<!\})\s+else \{\s*$/ && $before !~ /\}\s*else \{\s*$/;
  return $is_guard ? undef : 'no-throw' if $statement =~ /^throw\b/;
  return $is_guard || $before =~ /:\s*$/ ? undef : 'no-exit' if $statement =~ /^(?:return|continue|break)$/;
  my $rest = $statement =~ s/^(?:_ = )?(?:(?:try[?!]?|await) )*//r;
  return if $rest =~ /^(?:$keyword|self\.init|super\b)/;
  # An initializer has to initialize each property.
  return if $rest =~ /^[\w.]+ = / && $self->{initializers}{$self->{around}[length $before]};
  return 'no-assignment' if $rest =~ /^[\w.]+(?:\[[^=]*\])?[?!]?(?:\.[\w.]+)? [-+*\/|&]?= /;
  return unless $rest =~ /^[\w.?!]+(?:\([^\n]*|\[|\(| \{)/;
  return $rest =~ /^[\w.?!]*(?:synchroni|fsync|flush)/ ? 'no-fsync' : 'no-call';
}

# Swaps the values of neighboring arguments.
sub swaps {
  my ($self) = @_;
  my $simple = qr/^[a-z_\$][\w.\$]*$/;
  while ($self->{code} =~ /(?<=\w)\(/g) {
    my ($open, $close) = ($-[0], $self->{partner}{$-[0]});
    next if !$close || $self->is_silent($open);
    my ($from, $at, @values) = ($open + 1, $open + 1);
    while ($at <= $close) {
      my $character = substr $self->{code}, $at, 1;
      if ($character =~ /[(\[{]/ && $self->{partner}{$at}) { $at = $self->{partner}{$at} + 1; next }
      if ($character eq ',' || $at == $close) {
        my ($label, $value) = substr($self->{code}, $from, $at - $from) =~ /^(\s*(?:\w+: )?)(.*?)\s*$/s;
        push @values, {start => $from + length $label, text => $value};
        $from = $at + 1;
      }
      $at++;
    }
    for my $index (1 .. $#values) {
      my ($one, $two) = @values[$index - 1, $index];
      next if $one->{text} !~ $simple || $two->{text} !~ $simple || $one->{text} eq $two->{text};
      next if grep { /^(?:true|false|nil)$/ } $one->{text}, $two->{text};
      $self->add_holes('swap', "$one->{text}, $two->{text}", "$two->{text}, $one->{text}",
        {start => $one->{start}, end => $one->{start} + length $one->{text}, text => $two->{text}},
        {start => $two->{start}, end => $two->{start} + length $two->{text}, text => $one->{text}});
    }
  }
}

1;
