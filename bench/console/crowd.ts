import { followEvents } from '../../client/events.ts'
import { makeApplication, makeEnvironment } from '../../test/support/application.ts'
import type { TestConsole } from '../../test/support/console.ts'
import { atLeast, type Figure, relative } from '../figure.ts'
import { load } from '../load.ts'
import { paired } from '../paired.ts'
import { until } from '../until.ts'

const consoles = 200
const rounds = 5
const seconds = 2

/**
 * Opens what a console keeps open: the stream of its organization. After each change it reads the
 * list that its page shows. Resolves once all are connected.
 */
async function openConsoles({ server }: TestConsole): Promise<() => Promise<void>> {
  const ended = new AbortController()
  const { apiUrl: baseUrl, token, organizationId } = server
  let connected = 0
  const send: typeof fetch = async (...request) => {
    const answer = await fetch(...request)
    if (answer.ok) connected++
    return answer
  }
  const open = async (): Promise<void> => {
    for await (const { type } of followEvents({ baseUrl, token, organizationId, signal: ended.signal, fetch: send }))
      if (type.startsWith('environment.')) await server.must('GET', `/organization/${organizationId}/project`)
  }
  const all = Promise.allSettled(Array.from({ length: consoles }, open))
  await until('every console is connected', () => connected === consoles)
  return async () => {
    ended.abort()
    await all
  }
}

/** Compares reads of an application a second with 200 consoles open and with none. */
export async function measureCrowd(console: TestConsole): Promise<Figure> {
  const { server } = console
  const environmentId = await makeEnvironment(server, 'crowd')
  const { id, git } = await makeApplication(server, { environmentId, name: 'crowd' })
  const port = Number(new URL(server.apiUrl).port)
  const headers = { Authorization: `Bearer ${server.token}` }
  const read = async (): Promise<number> =>
    (await load({ port, paths: [`/application/${id}`], headers, seconds })).perSecond
  const readInCrowd = async () => {
    const close = await openConsoles(console)
    const crowd = await read().finally(close)
    return { crowd }
  }
  try {
    await read()
    const { crowd } = await paired(rounds, read, readInCrowd)
    return relative('console-crowd', crowd, 'requests/s', atLeast(0.95))
  } finally {
    await git.remove()
  }
}
