import FoundationEssentials
import Glibc
import StoreStrategies
import TestSupport
import Testing

@testable import StrategyProcess

/// A plugin that tries everything that the sandbox denies, and lists in its summary what succeeded.
struct PluginProber {
    /// The names of all attempts; all succeed without a sandbox.
    static let everything: Set<String> = [
        "read", "sibling", "list", "write", "make", "remove", "cut", "cut-readable", "cut-blind", "device", "tcp",
        "udp",
        "unix", "abstract", "netlink", "pair", "signal", "owner", "control", "chmod", "utime", "setsid", "setpgid",
    ]

    let folder: PluginFolder
    private let name = "Prober"
    private let victims: [String]

    /// Writes it, with files of its user to attack.
    init() throws {
        let folder = try PluginFolder()
        self.folder = folder
        let data = PluginFile.prefix + name + ".d"
        try folder.makeFolder(data, mode: 0o755)
        try folder.makeFolder("open", mode: 0o1777)
        victims = try [data + "/victim", "stranger", "sibling"].map { try folder.write($0, "line\n", mode: 0o644) }
        try folder.write(PluginFile.prefix + name, Self.script.replacing("FOLDER", with: folder.path))
    }

    /// Restores the victims, and empties the folder that it may write to.
    private func restore() throws {
        for victim in victims {
            try Data("line\n".utf8).write(to: URL(filePath: victim))
            #expect(chmod(victim, 0o644) == 0)
            // Root's plugin runs as the user nobody.
            if geteuid() == 0 { #expect(chown(victim, 65_534, 65_534) == 0) }
        }
    }

    /// Runs it under a kernel with these abilities, and returns what succeeded.
    func findings(under kernel: KernelProtection) throws -> Set<String> {
        try restore()
        let strategy = try folder.strategy(name) {
            $0.kernel = kernel
            $0.policy = .bestEffort
        }
        return Set(strategy.documentation.summary.dropLast().split(separator: " ").map(String.init))
    }

    /// True when no victim was changed.
    func isUntouched() throws -> Bool {
        try victims.allSatisfy { path in
            var status = stat()
            return lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o644 && status.st_mtim.tv_sec > 1000
                && FileManager.default.contents(atPath: path) == Data("line\n".utf8)
        } && FileManager.default.contentsOfDirectory(atPath: folder.path + "/open").isEmpty
    }

    private static let script = """
        #!/usr/bin/perl
        use Errno; use Fcntl; use POSIX (); use Socket;
        my $victim = 'FOLDER/store-migrate-strategy-Prober.d/victim';
        my $stranger = 'FOLDER/stranger';
        my @through;
        $| = 1;
        $SIG{IO} = 'IGNORE';
        sub attempt { my ($what, $done) = @_; push @through, $what if $done }
        sub refused { $!{EPERM} || $!{EACCES} }
        # In a child of its own, whose end says how it went.
        sub child { my ($body) = @_; my $child = fork // return 0;
            if (!$child) { POSIX::_exit($body->() ? 0 : 1) } waitpid($child, 0); return $? == 0 }
        # Through as soon as anybody would have to answer.
        sub reaches { my ($family, $type, $place) = @_;
            socket(my $s, $family, $type, 0) or return 0;
            return 1 if !defined $place;
            return connect($s, $place) || !refused() }

        attempt('read', open(my $a, '<', $stranger));
        attempt('sibling', open(my $b, '<', 'FOLDER/sibling'));
        attempt('list', opendir(my $c, 'FOLDER'));
        attempt('write', open(my $d, '>>', $victim));
        attempt('make', open(my $e, '>', "FOLDER/open/made.$$"));
        attempt('remove', unlink("FOLDER/open/made.$$"));
        attempt('cut-readable', sysopen(my $f, $victim, O_RDONLY | O_TRUNC));
        attempt('cut-blind', sysopen(my $g, $stranger, 3 | O_TRUNC));
        attempt('cut', truncate($victim, 0));
        attempt('device', sysopen(my $h, '/dev/full', 3));
        attempt('tcp', reaches(PF_INET, SOCK_STREAM, pack_sockaddr_in(9, INADDR_LOOPBACK)));
        attempt('udp', reaches(PF_INET, SOCK_DGRAM, pack_sockaddr_in(9, INADDR_LOOPBACK)));
        attempt('unix', reaches(PF_UNIX, SOCK_STREAM, pack_sockaddr_un('/run/no/such/socket')));
        attempt('abstract', reaches(PF_UNIX, SOCK_STREAM, pack_sockaddr_un("\\0no such socket")));
        attempt('netlink', reaches(16, SOCK_RAW));
        attempt('pair', socketpair(my $i, my $j, AF_UNIX, SOCK_STREAM, 0));
        attempt('signal', kill(0, $$));
        pipe(my $k, my $l);
        my $asynchronous = pack('i', 1);
        attempt('owner', fcntl($k, F_SETOWN, $$ + 0));
        attempt('control', ioctl($k, 0x5452, $asynchronous));
        attempt('chmod', chmod(0646, $victim));
        attempt('utime', utime(1, 1, $victim));
        attempt('setsid', child(sub { my $s = POSIX::setsid(); defined $s && $s > 0 }));
        attempt('setpgid', child(sub { setpgrp(0, 0) }));
        # What it must be able to do.
        push @through, 'no-data' unless open(my $m, '<', $victim);
        push @through, 'no-self' unless open(my $n, '<', $0);
        my $o;
        push @through, 'no-null' unless open($o, '>', '/dev/null') and syswrite($o, 'x') == 1;
        push @through, 'no-list' unless opendir(my $p, 'FOLDER/store-migrate-strategy-Prober.d');
        <STDIN>;
        my $text = join(' ', @through, 'and that is all.');
        print '\(HostilePlugin.capability("Prober", summary: #"', $text, '"#))', "\\n";
        """
}
