import type { Operation } from '../../contract/operation.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { idsOf, operations, pathOf } from '../contract/requests.ts'
import { addObjects, addTenant, type Objects, type Tenant } from '../support/fixture.ts'
import { createPlatform, type Platform } from '../support/platform.ts'
import { foreignTexts } from './foreign-texts.ts'
import { createRandom, type Random } from './random.ts'
import { almost } from './values.ts'

/**
 * `npm run fuzz [-- --requests=N] [--seconds=N] [--seed=N]`: random requests for all operations of
 * the contract, most of them almost good. In between, messages of git providers and files of stacks
 * with random changes. Ends with exit code 1 at the first answer that is a server's error, with the
 * request that led to it, and if such a text holds the server.
 */
const options = new Map(
  process.argv.slice(2).map((argument) => /^--(\w+)=(\d+)$/.exec(argument)?.slice(1) ?? []) as [string, string][],
)
const requests = Number(options.get('requests') ?? 100_000)
const seconds = Number(options.get('seconds') ?? 600)
const seed = Number(options.get('seed') ?? Date.parse(clock.now().toISOString()) % 1_000_000)
const random = createRandom(seed)
const lanes = 16
const freshEvery = 400

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const strangers = ['abc', '0190ffff-ffff-7fff-bfff-ffffffffffff', '%00', '..', 'null'] as const

const endings: (() => Promise<void>)[] = []
const platform = await createPlatform({ after: (work) => void endings.push(work) })
let tenant: Tenant = platform.a
let objects: Objects = platform.a.objects
const statuses = new Map<number, number>()
const began = clock.monotonic()
let sent = 0
let failure: string | undefined

say(`Seed ${seed}; ${operations.length} operations.`)
let texts = 0
const tryText = await foreignTexts(platform, random)
// Alone at first, so that nothing else holds the server.
while (!failure && texts < requests / 50 && clock.monotonic() - began < seconds * 250) {
  texts++
  failure = await tryText()
}
if (failure) failure += `\nseed ${seed}`
await Promise.all(Array.from({ length: lanes }, lane))
const duration = Math.round((clock.monotonic() - began) / 1000)
say(
  `${sent} requests in ${duration} s: ${[...statuses]
    .sort()
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')}`,
)
say(`${texts} texts from outside.`)
if (failure) say(failure)
for (const end of endings.reverse()) await end()
process.exit(failure ? 1 : 0)

async function lane(): Promise<void> {
  while (!failure && sent < requests && clock.monotonic() - began < seconds * 1000) {
    sent++
    if (sent % freshEvery === 0) await renew(platform)
    const [name, operation] = random.pick(operations)
    // Where everything is gone soon, little is tried.
    if (operation.method === 'DELETE' && random.percent(80)) continue
    const request = invent(operation, random)
    const { status, text } = await platform.call(
      request.token,
      operation.method,
      request.path,
      request.body,
      request.headers,
    )
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status >= 500)
      failure ??= `${name}: ${status} ${text}\n${operation.method} ${JSON.stringify(request)}\nseed ${seed}`
  }
}

/**
 * Much is deleted on the way, and much else meets a limit: a new organization with everything in
 * it.
 */
async function renew({ database }: Platform): Promise<void> {
  const next = await addTenant(database, platform, `tenant-${sent}`)
  objects = await addObjects(database, platform, next)
  tenant = next
}

function invent(operation: Operation, from: Random) {
  const ids = idsOf(operation, objects).map((id) => (from.percent(4) ? from.pick(strangers) : id))
  const query = operation.query && from.percent(70) ? `?${queryOf(operation, from)}` : ''
  const token = from.percent(96)
    ? tenant.tokens.ADMIN
    : from.pick(['garbage', tenant.tokens.READ, platform.b.tokens.ADMIN])
  const path = `${pathOf(operation, ids.map(encodeURIComponent))}${query}`
  const body = operation.body && from.percent(98) ? almost(operation.body, from) : undefined
  const headers: Record<string, string> = from.percent(3) ? { 'idempotency-key': `key ${from.below(50)}` } : {}
  return { token, path, body, headers }
}

function queryOf({ query }: Operation, from: Random): string {
  const pairs = Object.entries(query?.properties ?? {})
    .filter(() => from.percent(60))
    .map(([name, schema]): [string, string] => [name, String(almost(schema, from)).slice(0, 500).toWellFormed()])
  return new URLSearchParams(pairs).toString()
}
