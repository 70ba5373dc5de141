import { readConfig } from '../server/config.ts'
import { importTestImage, removeTestImage } from '../server/engines/docker/test-image.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import { atMost, type Benchmark, relative, type Session } from './figure.ts'
import { bareContainers } from './floors/containers.ts'
import { createInstallation, type Installation } from './installation.ts'
import { median, paired } from './paired.ts'
import { until } from './until.ts'

const rounds = 3
const stages = 4
const perStage = 5
const image = 'quayside-bench/answering'
const command = ['node', '-e', 'require("node:http").createServer((_, r) => r.end("ok")).listen(8080)']

/** Twenty services in four stages, deployed for the first time, against the same containers started by hand, stage after stage. */
export const environment: Benchmark = {
  figures: ['environment-deploy'],
  async measure(session) {
    const { dockerSocket } = readConfig({})
    await importTestImage(dockerSocket, `${image}:1`)
    session.ending.defer(() => removeTestImage(dockerSocket, `${image}:1`))
    const installation = await createInstallation(session)
    await installation.start()
    const apart: number[] = []
    const { all } = await paired(
      rounds,
      async () => {
        apart.push(await byHand(`quayside-bench-${process.pid}`))
        return byHand()
      },
      () => byPlatform(session, installation),
    )
    const ms = median(apart)
    session.say(`  by hand in a network of their own: ${ms.toFixed(0)} ms, ${(ms / all.floor).toFixed(2)} × the floor`)
    return [relative('environment-deploy', all, 'ms', atMost(1.3))]
  },
}

/** Each stage as long as its slowest container. Where services find each other by name, Docker has more to do for each one. */
async function byHand(network?: string): Promise<number> {
  let total = 0
  for (let stage = 0; stage < stages; stage++) {
    total += await bareContainers(`${image}:1`, command, { count: perStage, ...(network && { network }) })
  }
  return total
}

let count = 0

async function byPlatform({ say }: Session, installation: Installation): Promise<{ all: number }> {
  const { api } = installation
  const id = await declare(installation, `round-${++count}`)
  say(`  ${stages * perStage} services are declared`)
  const startedAt = clock.monotonic()
  await api('POST', `/environment/${id}/deploy`)
  await until(
    'the environment is deployed',
    async () => {
      const { state } = await api('GET', `/environment/${id}/status`)
      if (/ERROR|CANCELED/.test(String(state))) throw new Error(`the environment is ${state}`)
      return state === 'DEPLOYED'
    },
    { limitMs: 120_000, everyMs: 100 },
  )
  const all = clock.monotonic() - startedAt
  say(`  ${stages * perStage} services after ${all.toFixed(0)} ms`)
  await api('DELETE', `/environment/${id}`)
  await until('the environment is gone', async () => isGone(installation, id), { limitMs: 120_000 })
  return { all }
}

const isGone = (installation: Installation, id: string): Promise<boolean> =>
  installation.api('GET', `/environment/${id}`).then(
    () => false,
    (error: unknown) => String(error).includes('404'),
  )

/** An environment with its services, of which nothing runs yet. */
async function declare({ api }: Installation, name: string): Promise<string> {
  const organization = String(firstOf(await api('GET', '/organization')).id)
  const registry = await registryOf(api, organization)
  const project = await api('POST', `/organization/${organization}/project`, { name })
  const environment = await api('POST', `/project/${project.id}/environment`, { name })
  const at = `/environment/${environment.id}`
  const { results } = await api('GET', `${at}/deploymentStage`)
  for (const [stage, { id }] of listOf(results).slice(0, stages).entries()) {
    for (let n = 0; n < perStage; n++) {
      const service = await api('POST', `${at}/container`, {
        name: `s${stage}-${n}`,
        registry_id: registry,
        image_name: image,
        tag: '1',
        arguments: command,
        cpu: 250,
        memory: 64,
        ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }],
        healthchecks: { readiness_probe: probe },
      })
      await api('PUT', `/deploymentStage/${id}/service/${service.id}`)
    }
  }
  return String(environment.id)
}

const probe = {
  type: { tcp: { port: 8080 } },
  initial_delay_seconds: 0,
  period_seconds: 1,
  timeout_seconds: 1,
  success_threshold: 1,
  failure_threshold: 30,
}

async function registryOf(api: Installation['api'], organization: string): Promise<string> {
  const { results } = await api('GET', `/organization/${organization}/containerRegistry`)
  const hub = listOf(results).find(({ kind }) => kind === 'DOCKER_HUB')
  return String((hub ?? listOf(results)[0])?.id)
}

type Listed = Readonly<Record<string, unknown>>
const listOf = (results: unknown): readonly Listed[] => (Array.isArray(results) ? results : [])
const firstOf = ({ results }: Listed): Listed => listOf(results)[0] ?? {}
