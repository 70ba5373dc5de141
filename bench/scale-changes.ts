import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock as clock } from '../server/lib/clock.ts'
import { ask } from './http.ts'
import { oneConnection } from './one-connection.ts'
import { until } from './until.ts'

interface Running {
  readonly port: number
  readonly control: (path: string) => Promise<number>
  readonly directory: string
  readonly url: string
  readonly measureMs: number
  readonly changes: number
}

/**
 * Deploys and crashes services by turns. Returns the times from each deployment's
 * request to its start, and from each crash to its record, of which the API tells.
 */
export async function change({ port, control, directory, url, measureMs, changes }: Running) {
  const token = (await readFile(join(directory, 'token'), 'utf8')).trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sql = oneConnection(url)
  const rows = await sql<{ id: string }[]>`
    select id from service where name like 'service %' order by md5(id::text) limit ${changes}`
  const [deploys, events]: [number[], number[]] = [[], []]
  for (const [number, { id }] of rows.entries()) {
    const isDeployed = number % 2 === 0
    if (isDeployed) {
      const startedAt = Date.now()
      const body = JSON.stringify({ image_tag: '2' })
      const { status, body: text } = await ask({ port, path: `/container/${id}/deploy`, method: 'POST', headers, body })
      if (status !== 202) throw new Error(`a deployment was answered ${status}: ${text}`)
      await until('it is started', async () => (await control(`/started?service=${id}`)) >= startedAt, { everyMs: 20 })
      deploys.push((await control(`/started?service=${id}`)) - startedAt)
    } else {
      const crashedAt = await control(`/crash?service=${id}`)
      const isSeen = async () => {
        const [row] = await sql`select state from observation where service_id = ${id}`
        return row?.['state'] === 'failing'
      }
      await until('its crash is known', isSeen, { everyMs: 20 })
      events.push(Date.now() - crashedAt)
    }
    await clock.sleep(measureMs / rows.length / 2)
  }
  await sql.end()
  return { deploys, events }
}
