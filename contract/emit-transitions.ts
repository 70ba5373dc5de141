// Writes the table of transitions into docs/deployments.md. A test compares them.
import { readFileSync, writeFileSync } from 'node:fs'
import { withTransitions } from './transitions-page.ts'

const page = new URL('../docs/deployments.md', import.meta.url)
writeFileSync(page, withTransitions(readFileSync(page, 'utf8')))
