import Testing

@testable import StoreBackup

@Suite("Which backups are kept")
struct RetentionPolicyTests {
    @Test("A policy is empty if none of its numbers is positive")
    func empty() {
        #expect(RetentionPolicy().isEmpty)
        #expect(RetentionPolicy(last: -1, daily: -1, weekly: -1, monthly: -1).isEmpty)
        for policy in [
            RetentionPolicy(last: 1), RetentionPolicy(daily: 1), RetentionPolicy(weekly: 1),
            RetentionPolicy(monthly: 1),
        ] { #expect(!policy.isEmpty) }
    }

    private static let day: Int64 = 86_400
    /// 1 January 2026, a Thursday.
    private static let newYear: Int64 = 1_767_225_600

    @Test(
        "A policy keeps the expected ones of two backups a day over a hundred days",
        arguments: [
            (RetentionPolicy(last: 3), [197, 198, 199]),
            (RetentionPolicy(daily: 3), [195, 197, 199]),
            // Day 99 is 10 April 2026, a Friday; weeks end on Sundays.
            (RetentionPolicy(weekly: 3), [175, 189, 199]),
            (RetentionPolicy(monthly: 5), [61, 117, 179, 199]),
            (RetentionPolicy(last: 1, daily: 2, weekly: 2, monthly: 2), [179, 189, 197, 199]),
            (RetentionPolicy(), []),
        ]
    )
    func kept(policy: RetentionPolicy, expected: [Int]) {
        let times = (0..<200).map { Self.newYear + Int64($0) * Self.day / 2 + 1 }
        #expect(policy.kept(of: times).sorted() == expected)
    }

    @Test("Periods without a backup and the order of the list do not matter")
    func gaps() {
        let days: [Int64] = [900, 0, 899, 40, 3]
        let times = days.map { Self.newYear + $0 * Self.day }
        #expect(RetentionPolicy(daily: 3).kept(of: times) == [0, 2, 3])
        #expect(RetentionPolicy(monthly: 9).kept(of: times) == [0, 3, 4])
    }

    @Test("A policy applies before 1970 and within one second")
    func oddTimes() {
        #expect(RetentionPolicy(last: 1).kept(of: [5, 5, 5]) == [2])
        #expect(RetentionPolicy(daily: 2).kept(of: [-1, 0, -86_400, -86_401]) == [1, 0])
    }
}
