/// A hostile strategy plugin, and how it is refused.
///
/// It exits without an answer when its forbidden action is denied, and answers like any other plugin when the action
/// succeeds. A share that succeeds with it therefore shows a hole in the sandbox.
package struct HostilePlugin: CustomStringConvertible, Sendable {
    /// The name of all of them.
    package static let name = "Hostile"

    package let description: String
    private let words: String
    /// True when only its deadline stops it.
    private let isPatient: Bool
    /// True when the sandbox alone denies its action.
    package let isFreeWithoutSandbox: Bool
    private let isPerl: Bool
    private let script: String

    fileprivate init(
        _ description: String,
        _ script: String,
        refusal: String = "it ended with 0 of 1 answers",
        isPerl: Bool = false,
        isPatient: Bool = false,
        isFreeWithoutSandbox: Bool = false
    ) {
        self.description = description
        self.script = script
        words = refusal
        self.isPerl = isPerl
        self.isPatient = isPatient
        self.isFreeWithoutSandbox = isFreeWithoutSandbox
    }

    /// The seconds it has, and those of further attempts when a busy machine started it too late.
    package var seconds: [Int] { isPatient ? [1, 4, 16] : [60] }

    /// The reason in the line that refuses it after so many seconds.
    package func refusal(within seconds: Int) -> String { words.replacing("TIME", with: "\(seconds).0 seconds") }

    /// True if it ran out of time before it reached the action that it is to be refused for.
    package func isLate(_ text: String, within seconds: Int) -> Bool {
        !text.contains(refusal(within: seconds)) && text.contains("it did not answer within")
    }

    /// The text of its file.
    ///
    /// `secret` is a world-readable file, `open` a world-writable folder, and `nap` a number of seconds that no other process
    /// on this machine sleeps.
    package func text(secret: String, open: String, nap: String) -> String {
        (isPerl ? Self.perl : Self.shell).replacing("SCRIPT", with: script)
            .replacing("CAPABILITY", with: Self.capability(Self.name))
            .replacing("SECRET", with: secret).replacing("OPEN", with: open).replacing("NAP", with: nap)
    }

    /// A plugin's capability answer.
    package static func capability(
        _ name: String,
        version: Int = 1,
        summary: String = "Is made up for a test.",
        sets: String = "timeout"
    ) -> String {
        #"{"capability":{"protocolVersion":\#(version),"name":"\#(name)","documentation":{"summary":"\#(summary)","#
            + #""sets":["\#(sets)"],"example":"\#(name)","notApplicable":"It applies to every store."}}}"#
    }

    /// Answers every question; what it sets is in a variable.
    private static let shell = """
        #!/bin/sh
        changes='{"changes":{"changes":{"timeout":9}}}'
        behave() {
            while read -r question; do
                case $question in
                '{"getCapability":'*) echo 'CAPABILITY' ;;
                '{"evaluate":'*) echo '{"applicability":{"result":{"applicable":{}}}}' ;;
                '{"describe":'*) printf '%s\\n' "$changes" ;;
                esac
            done
        }
        SCRIPT

        """

    private static let perl = """
        #!/usr/bin/perl
        use Errno; use POSIX (); use Socket;
        sub behave {
            $| = 1;
            while (<STDIN>) {
                print 'CAPABILITY', "\\n" if /^."getCapability"/;
                print '{"applicability":{"result":{"applicable":{}}}}', "\\n" if /^."evaluate"/;
                print '{"changes":{"changes":{"timeout":9}}}', "\\n" if /^."describe"/;
            }
        }
        SCRIPT

        """
}

extension HostilePlugin {
    package static let all: [HostilePlugin] = reaching + usingUp + talking

    /// Plugins that try forbidden calls.
    private static let reaching = [
        HostilePlugin("opens a file", "read -r line <'SECRET' || exit 1; behave", isFreeWithoutSandbox: true),
        HostilePlugin("lists its folder", #"ls "${0%/*}" >/dev/null || exit 1; behave"#, isFreeWithoutSandbox: true),
        HostilePlugin("writes a file", "(: >'OPEN/written') || exit 1; behave", isFreeWithoutSandbox: true),
        HostilePlugin(
            "connects by TCP",
            """
            socket(my $s, PF_INET, SOCK_STREAM, 0) or exit 1;
            connect($s, pack_sockaddr_in(9, INADDR_LOOPBACK)) or $!{ECONNREFUSED} or exit 1;
            behave();
            """,
            isPerl: true,
            isFreeWithoutSandbox: true
        ),
        HostilePlugin(
            "sends by UDP",
            """
            socket(my $s, PF_INET, SOCK_DGRAM, 0) or exit 1;
            send($s, 'x', 0, pack_sockaddr_in(9, INADDR_LOOPBACK)) or exit 1;
            behave();
            """,
            isPerl: true,
            isFreeWithoutSandbox: true
        ),
        HostilePlugin(
            "connects to an abstract socket",
            """
            socket(my $s, PF_UNIX, SOCK_STREAM, 0) or exit 1;
            connect($s, pack_sockaddr_un("\\0store-migrate-NAP")) or $!{ECONNREFUSED} or exit 1;
            behave();
            """,
            isPerl: true,
            isFreeWithoutSandbox: true
        ),
        HostilePlugin(
            "daemonises",
            """
            my $child = fork // exit 1;
            if (!$child) { my $s = POSIX::setsid(); POSIX::_exit(defined $s && $s > 0 ? 0 : 1) }
            waitpid($child, 0);
            exit 1 if $?;
            behave();
            """,
            isPerl: true,
            isFreeWithoutSandbox: true
        ),
        HostilePlugin("kills its host", "kill -9 $PPID || exit 1; behave"),
        HostilePlugin("raises its own limits", "ulimit -n 5000 || exit 1; behave"),
    ]

    /// Plugins that exhaust resources.
    private static let usingUp = [
        HostilePlugin(
            "forks endlessly",
            "fork() { fork & fork & }; while :; do sleep NAP & fork; done",
            refusal: "the plugin Hostile is refused",
            isPatient: true
        ),
        HostilePlugin(
            "allocates endlessly",
            "text=aaaaaaaaaaaaaaaa; while :; do text=$text$text$text$text; done"
        ),
        HostilePlugin(
            "writes endlessly",
            "while :; do printf aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
            refusal: "it sent more than 1048576 bytes"
        ),
        HostilePlugin(
            "writes to standard error endlessly",
            "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >&2; done",
            refusal: "it sent more than 1048576 bytes"
        ),
        HostilePlugin(
            "keeps silent",
            "exec sleep NAP",
            refusal: "it did not answer within TIME",
            isPatient: true
        ),
        HostilePlugin(
            "ignores being asked to stop",
            "trap '' TERM INT HUP; exec sleep NAP",
            refusal: "it did not answer within TIME",
            isPatient: true
        ),
        HostilePlugin(
            "does not exit after its answers",
            "behave; exec sleep NAP",
            refusal: "it did not exit after the end of its input within TIME",
            isPatient: true
        ),
        HostilePlugin(
            "leaves a child that holds its output open",
            "sleep NAP & behave",
            refusal: "it did not exit after the end of its input within TIME",
            isPatient: true
        ),
    ]

    /// Plugins with invalid answers.
    private static let talking = [
        HostilePlugin(
            "writes half a message",
            #"printf '{"capability":{"protocol'"#,
            refusal: "in the middle of a message"
        ),
        HostilePlugin("talks garbage", "echo hello", refusal: "its answer cannot be read"),
        HostilePlugin(
            "nests endlessly",
            "head -c 500000 /dev/zero | tr '\\0' '['; echo",
            refusal: "its answer cannot be read"
        ),
        HostilePlugin(
            "counts beyond all numbers",
            #"echo '{"capability":{"protocolVersion":1e999999,"name":"Hostile"}}'"#,
            refusal: "its answer cannot be read"
        ),
        HostilePlugin(
            "exits at once",
            "echo nothing for me >&2; exit 3",
            refusal: "it ended with 0 of 1 answers, and wrote: nothing for me"
        ),
        HostilePlugin(
            "writes after its answer",
            "behave; echo and another thing",
            refusal: "it sent more answers than it got questions"
        ),
        HostilePlugin(
            "speaks another version",
            "echo '\(capability(name, version: 7))'",
            refusal: "speaks version 7 of the wire"
        ),
        HostilePlugin(
            "bears another name",
            "echo '\(capability("WriteAheadLog"))'",
            refusal: "calls itself 'WriteAheadLog'"
        ),
        HostilePlugin(
            "wants to set what no strategy may",
            "echo '\(capability(name, sets: "url"))'",
            refusal: "it wants to set url, which no strategy may set"
        ),
        HostilePlugin(
            "says unprintable things of itself",
            "printf '%s\\n' '\(capability(name, summary: #"\u001b[31mIs red."#))'",
            refusal: "its summary is empty, too long or no plain text"
        ),
        HostilePlugin(
            "answers an option that it never offered",
            #"changes='{"changes":{"changes":{"isReadOnly":true}}}'; behave"#,
            refusal: "sets isReadOnly, which it does not document"
        ),
        HostilePlugin(
            "answers what no option is",
            #"changes='{"changes":{"changes":{"url":"file:///etc/passwd"}}}'; behave"#,
            refusal: "'url' is nothing that a strategy may set"
        ),
        HostilePlugin(
            "answers a value out of range",
            #"changes='{"changes":{"changes":{"timeout":-1}}}'; behave"#,
            refusal: "sets timeout to -1.0; that is no time to wait"
        ),
        HostilePlugin(
            "answers a pragma of no name",
            #"changes='{"changes":{"changes":{"sqlitePragmas":{"\u001b[31m":"1"}}}}'; behave"#,
            refusal: "that is no name of a pragma"
        ),
        HostilePlugin(
            "sends an answer of the wrong kind",
            #"changes='{"applicability":{"result":{"applicable":{}}}}'; behave"#,
            refusal: "sent an answer of the wrong kind"
        ),
        HostilePlugin(
            "refuses in colour",
            #"changes='{"failure":{"message":"\u001b[31mnot\ntoday\u202e"}}'; behave"#,
            refusal: #"says: \u{1B}[31mnot today\u{202E}"#
        ),
    ]
}
