// Writes deploy/chart/files/rights.yaml, the rules of the ClusterRole of the chart. A test compares
// them.
import { writeFileSync } from 'node:fs'
import { roleRules } from './rights.ts'

writeFileSync(new URL('../../../deploy/chart/files/rights.yaml', import.meta.url), roleRules())
