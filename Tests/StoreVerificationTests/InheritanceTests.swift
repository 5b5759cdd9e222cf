import StoreAccess
import Testing

@testable import StoreVerification

@Suite("Findings that a copy inherits")
struct InheritanceTests {
    private func finding(
        _ code: Finding.Code = .wrongEntity,
        _ severity: Finding.Severity = .error,
        level: VerificationLevel = .coredata,
        key: Int64? = 1,
        path: String? = nil
    ) -> Finding {
        Finding(code, severity, level: level, "a sentence", path: path, table: "ZITEM", key: key)
    }

    private func report(_ findings: [Finding]) -> VerificationReport {
        VerificationReport(
            levels: [.init(level: .coredata, status: .failed, seconds: 0)],
            findings: findings
        )
    }

    @Test("A finding that the source has already does not fail the copy")
    func inherited() {
        let compared = report([finding()]).inheriting(from: [finding(path: "/elsewhere")])
        #expect(compared.findings.map(\.severity) == [.inherited])
        #expect(compared.passed)
    }

    @Test("A finding that the source does not have fails the copy")
    func worse() {
        let compared = report([finding(), finding(key: 2)]).inheriting(from: [finding()])
        #expect(compared.findings.map(\.severity) == [.inherited, .error])
        #expect(!compared.passed)
    }

    @Test("A finding that occurs once more than in the source is not inherited")
    func twice() {
        let compared = report([finding(), finding()]).inheriting(from: [finding()])
        #expect(compared.findings.map(\.severity) == [.inherited, .error])
    }

    @Test("Warnings are inherited too, and informational findings stay informational")
    func milder() {
        let findings = [finding(.historyTimeBackwards, .warning), finding(.notProved, .info)]
        let compared = report(findings).inheriting(from: findings)
        #expect(compared.findings.map(\.severity) == [.inherited, .info])
    }

    @Test("Damaged pages are never inherited")
    func damage() {
        let damaged = finding(.pageDamage, level: .coredata)
        #expect(!report([damaged]).inheriting(from: [damaged]).passed)
    }
}
