// Writes docs/authorization.md; a test compares it with what the contract says.
import { writeFileSync } from 'node:fs'
import { authorizationDocument } from './authorization.ts'
import { contract } from './contract.ts'

writeFileSync(new URL('../docs/authorization.md', import.meta.url), authorizationDocument(contract))
