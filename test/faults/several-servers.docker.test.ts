import { testSeveralServers } from './several-servers.cases.ts'

testSeveralServers({ rounds: 2 })
