import { request } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { run } from '../../server/lib/run.ts'
import { usualSocket, viewEngine } from './engine-view.ts'

/** The database images that tests use. `npm run images` builds them. */
export const databaseImages = {
  postgresql: { type: 'POSTGRESQL', version: '15', image: 'postgres' },
  mysql: { type: 'MYSQL', version: '10.11', image: 'mysql' },
  redis: { type: 'REDIS', version: '7', image: 'redis' },
} as const

const program = fileURLToPath(new URL('../../bootstrap/images.mjs', import.meta.url))

/** Builds the images that the machine's engine does not have. A build takes a minute. */
export async function provideDatabaseImages(...names: readonly (keyof typeof databaseImages)[]): Promise<void> {
  const env = { QUAYSIDE_DOCKER_HOST: `unix://${usualSocket}` }
  const { exitCode, stdout, stderr } = await run(process.execPath, [program, ...names], { env, timeoutMs: 540_000 })
  if (exitCode !== 0) throw new Error(`the database images could not be built:\n${stdout}\n${stderr}`)
}

/** Returns all tags of an image of the machine's engine, the longest last. */
export async function tagsOf(image: string): Promise<string[]> {
  const found = Object(await viewEngine().ask('GET', `/images/${image}/json`))
  const names: unknown = found.RepoTags
  const tags = Array.isArray(names) ? names.map((name) => String(name).replace(/^.*:/, '')) : []
  return tags.sort((a, b) => a.length - b.length)
}

/** Copies an image from the machine's engine to another engine. */
export async function copyImage(reference: string, toSocket: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const save = request({ socketPath: usualSocket, path: `/images/${reference}/get` }, (image) => {
    const load = request({ socketPath: toSocket, method: 'POST', path: '/images/load' }, (answer) => {
      answer
        .resume()
        .on('end', () =>
          answer.statusCode === 200 ? resolve() : reject(new Error('the engine did not load the image')),
        )
    })
    pipeline(image, load).catch(reject)
  })
  save.once('error', reject).end()
  return promise
}
