// Writes the tables of imports into ARCHITECTURE.md; a test compares them.
import { readFileSync, writeFileSync } from 'node:fs'
import { withImportTables } from './import-tables.ts'

const page = new URL('../../ARCHITECTURE.md', import.meta.url)
writeFileSync(page, withImportTables(readFileSync(page, 'utf8')))
