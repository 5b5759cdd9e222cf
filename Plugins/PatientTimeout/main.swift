import StrategyProcess

StrategyServer.run(PatientTimeoutStrategy())
