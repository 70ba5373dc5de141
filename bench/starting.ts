import { systemClock as clock } from '../server/lib/clock.ts'
import { docker } from './docker.ts'
import { absolute, atMost, type Benchmark } from './figure.ts'
import { ask } from './http.ts'
import { createInstallation, type Installation } from './installation.ts'
import { median } from './paired.ts'
import { until } from './until.ts'

const rounds = 3

/**
 * Measures the time from `npm start` to "Ready." and an application that answers: on an empty data
 * directory with everything installed, and on the same directory after a stop. The base image of
 * the example counts as missing.
 */
export const starting: Benchmark = {
  figures: ['start-empty', 'start-existing'],
  async measure(session) {
    const empty: number[] = []
    const existing: number[] = []
    for (let round = 0; round < rounds; round++) {
      const installation = await createInstallation(session)
      empty.push(await withoutBaseImage(() => ready(installation)))
      await installation.stop()
      existing.push(await ready(installation))
      await installation.stop()
      session.say(`  empty ${empty.at(-1)?.toFixed(2)} s, existing ${existing.at(-1)?.toFixed(2)} s`)
    }
    return [
      absolute('start-empty', median(empty), 's', atMost(3)),
      absolute('start-existing', median(existing), 's', atMost(1.5)),
    ]
  },
}

async function ready(installation: Installation): Promise<number> {
  const startedAt = clock.monotonic()
  await installation.start()
  const question = { port: installation.routerPort, path: '/', headers: { host: installation.host() } }
  await until('the application answers', async () => (await ask(question)).status === 200)
  return (clock.monotonic() - startedAt) / 1000
}

const baseImage = 'quayside/node:24'
const aside = 'quayside-bench/node:aside'

/** Puts the existing image aside, and restores it afterwards. */
async function withoutBaseImage<T>(work: () => Promise<T>): Promise<T> {
  if ((await docker('GET', `/images/${baseImage}/json`)) === undefined) return work()
  await docker('POST', `/images/${baseImage}/tag`, { repo: 'quayside-bench/node', tag: 'aside' })
  await removeName(baseImage)
  try {
    return await work()
  } finally {
    await removeName(baseImage)
    await docker('POST', `/images/${aside}/tag`, { repo: 'quayside/node', tag: '24' })
    await removeName(aside)
  }
}

const removeName = (image: string): Promise<unknown> => docker('DELETE', `/images/${image}`, { noprune: true })
