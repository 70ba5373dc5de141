import { readConfig, socketOf } from '../server/config.ts'
import { importTestImage, removeTestImage } from '../server/engines/docker/test-image.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { atMost, type Benchmark, relative, type Session } from './figure.ts'
import { bareContainers } from './floors/containers.ts'
import { followDeployment } from './following.ts'
import { createInstallation, type Installation } from './installation.ts'
import { compare, paired } from './paired.ts'
import { until } from './until.ts'

const rounds = 9
const stages = 4
const perStage = 5
const image = 'quayside-bench/answering'
const command = ['node', '-e', 'require("node:http").createServer((_, r) => r.end("ok")).listen(8080)']

/**
 * Measures the first deployment of twenty services in four stages against the same containers
 * started by hand, stage by stage: on Docker's default network, and on their own network (ADR
 * 0027).
 */
export const environment: Benchmark = {
  figures: ['environment-deploy', 'environment-deploy-network'],
  async measure(session) {
    const dockerSocket = socketOf(readConfig({}))
    // The registry refuses connections at once, so the engine's own image is used.
    const registry = `127.0.0.1:${await findFreePort()}`
    const named = `${registry}/${image}:1`
    await importTestImage(dockerSocket, named)
    session.ending.defer(() => removeTestImage(dockerSocket, named))
    const installation = await createInstallation(session)
    await installation.start()
    const apart: number[] = []
    const deployed: { all: number }[] = []
    const { all } = await paired(
      rounds,
      async () => {
        apart.push(await byHand(named, `quayside-bench-${process.pid}`))
        return byHand(named)
      },
      async () => {
        const round = await byPlatform(session, installation, registry)
        deployed.push(round)
        return round
      },
    )
    return [
      relative('environment-deploy', all, 'ms', atMost(1.3)),
      relative('environment-deploy-network', compare(apart, deployed).all, 'ms', atMost(1.15)),
    ]
  },
}

/**
 * Each stage takes as long as its slowest container. On a named network, Docker does more for each
 * one.
 */
async function byHand(named: string, network?: string): Promise<number> {
  let total = 0
  for (let stage = 0; stage < stages; stage++) {
    total += await bareContainers(named, command, { count: perStage, ...(network && { network }) })
  }
  return total
}

let count = 0

async function byPlatform({ say }: Session, installation: Installation, registry: string): Promise<{ all: number }> {
  const { api } = installation
  const organization = String(firstOf(await api('GET', '/organization')).id)
  const id = await declare(installation, { organization, registry, name: `round-${++count}` })
  say(`  ${stages * perStage} services are declared`)
  const { ended } = await followDeployment(installation, { organization, environment: id })
  const startedAt = clock.monotonic()
  await api('POST', `/environment/${id}/deploy`)
  await ended
  const all = clock.monotonic() - startedAt
  const { state } = await api('GET', `/environment/${id}/status`)
  if (state !== 'DEPLOYED') throw new Error(`the environment is ${state}`)
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

/** Creates an environment with services that are not running yet. */
async function declare(
  { api }: Installation,
  { organization, registry, name }: Readonly<Record<'organization' | 'registry' | 'name', string>>,
): Promise<string> {
  const { id: registryId } = await api('POST', `/organization/${organization}/containerRegistry`, {
    name: `${name} registry`,
    kind: 'GENERIC_CR',
    url: `http://${registry}`,
    config: {},
  })
  const project = await api('POST', `/organization/${organization}/project`, { name })
  const environment = await api('POST', `/project/${project.id}/environment`, { name })
  const at = `/environment/${environment.id}`
  const { results } = await api('GET', `${at}/deploymentStage`)
  for (const [stage, { id }] of listOf(results).slice(0, stages).entries()) {
    for (let n = 0; n < perStage; n++) {
      const service = await api('POST', `${at}/container`, {
        name: `s${stage}-${n}`,
        registry_id: registryId,
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

type Listed = Readonly<Record<string, unknown>>
const listOf = (results: unknown): readonly Listed[] => (Array.isArray(results) ? results : [])
const firstOf = ({ results }: Listed): Listed => listOf(results)[0] ?? {}
