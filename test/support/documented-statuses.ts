import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { contract } from '../../contract/contract.ts'
import type { Operation } from '../../contract/operation.ts'

/**
 * Statuses of the platform itself. The document lists them for all operations at once, as
 * `default`.
 */
const general: ReadonlySet<number> = new Set([408, 414, 421, 500, 503])

interface Documented {
  readonly segments: readonly string[]
  readonly statuses: ReadonlySet<string>
}
const byMethod = new Map<string, Documented[]>()
// Another test compares the file with the contract. Reading it is faster than computing it.
const { paths } = JSON.parse(readFileSync(new URL('../../contract/openapi.json', import.meta.url), 'utf8'))
for (const { method, path } of Object.values<Operation>(contract)) {
  const statuses = new Set(Object.keys(paths[path][method.toLowerCase()].responses))
  byMethod.set(method, [...(byMethod.get(method) ?? []), { segments: path.split('/'), statuses }])
}

/** Fails if the OpenAPI document does not list the status for the operation. */
export function assertDocumented(method: string, url: string, status: number): void {
  const segments = (url.split('?')[0] ?? '').split('/')
  const matching = (byMethod.get(method) ?? []).filter(
    (one) =>
      one.segments.length === segments.length &&
      one.segments.every((segment, index) => segment.startsWith('{') || segment === segments[index]),
  )
  if (matching.length === 0 || general.has(status)) return
  const isListed = matching.some(({ statuses }) => statuses.has(String(status)))
  assert.ok(isListed, `${method} ${url} answered ${status}, which the OpenAPI document does not list`)
}
