import type { JobRun } from '@quayside/contract/resources/job-run.ts'
import { absolute, atMost, type Benchmark } from './figure.ts'
import { createInstallation, type Installation } from './installation.ts'
import { createRepository } from './repository.ts'
import { until } from './until.ts'

const jobs = 5
const minutes = 3

/**
 * Measures how late cron jobs start: the latest of five jobs that run every minute, over three
 * minutes.
 */
export const cron: Benchmark = {
  figures: ['cron-start'],
  async measure(session) {
    const installation = await createInstallation(session)
    await installation.start()
    const repository = await createRepository(session, installation, 'cron')
    await repository.push('first')
    const ids = await declare(installation)
    for (const id of ids) await installation.api('POST', `/job/${id}/deploy`, {})
    for (const id of ids) await untilDeployed(installation, id)
    const lateMs = new Map<string, number>()
    const look = async (): Promise<boolean> => {
      for (const id of ids) for (const run of await endedRuns(installation, id)) lateMs.set(run.id, lateOf(run))
      return lateMs.size >= jobs * minutes
    }
    await until('all have run', look, { everyMs: 2000, limitMs: (minutes + 2) * 60_000 })
    const all = [...lateMs.values()].sort((a, b) => a - b)
    session.say(`  ${all.length} runs began after ${all.join(', ')} ms`)
    return [absolute('cron-start', all.at(-1) ?? Number.NaN, 'ms', atMost(1000))]
  },
}

type Run = typeof JobRun.static

async function endedRuns({ api }: Installation, id: string): Promise<Run[]> {
  // The contract guarantees the shape.
  const { results } = (await api('GET', `/job/${id}/run`)) as { results: Run[] }
  return results.filter(({ status }) => status === 'SUCCESS')
}

const lateOf = ({ scheduled_at, started_at }: Run): number =>
  Date.parse(String(started_at)) - Date.parse(String(scheduled_at))

async function declare({ api, port }: Installation): Promise<string[]> {
  const { results } = await api('GET', '/organization')
  const organization = String(Object(Array.isArray(results) ? results[0] : undefined).id)
  const project = await api('POST', `/organization/${organization}/project`, { name: 'cron' })
  const environment = await api('POST', `/project/${project.id}/environment`, { name: 'cron' })
  const made: string[] = []
  for (let number = 1; number <= jobs; number++) {
    const cronjob = { entrypoint: 'node', arguments: ['-e', '0'], timezone: 'Etc/UTC', scheduled_at: '* * * * *' }
    const { id } = await api('POST', `/environment/${environment.id}/job`, {
      name: `cron-${number}`,
      cpu: 250,
      memory: 64,
      healthchecks: {},
      source: { docker: { git_repository: { url: `http://localhost:${port}/git/cron.git`, branch: 'main' } } },
      schedule: { cronjob },
    })
    made.push(String(id))
  }
  return made
}

const untilDeployed = ({ api }: Installation, id: string) =>
  until(
    'the job is deployed',
    async () => {
      const { state, reason } = await api('GET', `/job/${id}/status`)
      if (/ERROR|CANCELED/.test(String(state))) throw new Error(`${state}: ${reason}`)
      return state === 'DEPLOYED'
    },
    { everyMs: 200, limitMs: 120_000 },
  )
