import Sample
import Testing

@Suite("The functions of the sample")
struct SampleTests {
    @Test("An age at the boundary is an adult's, and one below is not")
    func ages() {
        #expect(isAdult(18))
        #expect(!isAdult(17))
    }

    @Test("A temperature far below the boundary is cold, and one far above is not")
    func temperatures() {
        #expect(isCold(-10))
        #expect(!isCold(30))
    }

    @Test("The smaller of two numbers does not depend on their order")
    func minima() {
        #expect(smaller(1, 2) == 1)
        #expect(smaller(2, 1) == 1)
        #expect(smaller(2, 2) == 2)
    }

    @Test("A countdown takes as many steps as its start")
    func countdowns() { #expect(countdown(from: 3) == 3) }

    @Test("A repeated word contains the count")
    func words() { #expect(repeated("a", 2) == "a2a2") }
}
