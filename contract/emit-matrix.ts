// Writes docs/kinds.md. A test compares it with the matrix.
import { writeFileSync } from 'node:fs'
import { matrixPage } from './matrix-page.ts'

writeFileSync(new URL('../docs/kinds.md', import.meta.url), matrixPage())
