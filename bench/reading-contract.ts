import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '../test/support/free-port.ts'
import { startChild } from './child.ts'
import { atLeast, type Benchmark, type Figure, relative, type Session } from './figure.ts'
import { createInstallation } from './installation.ts'
import { load } from './load.ts'
import { paired } from './paired.ts'
import { emptyDatabase } from './reading.ts'

const rounds = 7
const seconds = 2
const kinds = ['application', 'container', 'database', 'job', 'helm', 'terraform'] as const

/** The goals by figure. Each figure is the read of the same name. */
const goals: Readonly<Record<string, number>> = {
  ...Object.fromEntries(kinds.map((kind) => [`read-${kind}`, 0.85])),
  'list-applications': 1.0,
  'read-by-jwt': 0.8,
}

/**
 * Measures authenticated reads of every kind, a list of fifty and a read with a JWT, each against a
 * bare program with the same statement.
 */
export const readingContract: Benchmark = {
  figures: Object.keys(goals),
  async measure(session) {
    const { token, jwt, own, floor } = await prepare(session)
    const figures: Figure[] = []
    for (const [name, goal] of Object.entries(goals)) {
      const read = name === 'read-by-jwt' ? 'read-application' : name
      const credential = name === 'read-by-jwt' ? jwt : token
      await own(read, credential)
      const measured = await paired(
        rounds,
        () => floor(read),
        async () => ({ read: await own(read, credential) }),
      )
      figures.push(relative(name, measured.read, 'requests/s', atLeast(goal)))
    }
    return figures
  },
}

async function prepare(session: Session) {
  const installation = await createInstallation(session)
  await installation.start()
  const { host, directory, url } = await emptyDatabase(session, installation, 'reading')
  const [port, floorPort] = [await findFreePort(), await findFreePort()]
  await startChild(session, 'reading-server.ts', [String(port), url, directory], port)
  const file = join(directory, 'reading.json')
  await startChild(session, 'floors/replayer.ts', [String(floorPort), host, 'reading', file], floorPort)
  const { token, jwt, reads } = JSON.parse(await readFile(file, 'utf8'))
  const run = async (at: number, name: string, credential: string): Promise<number> => {
    const headers = { Authorization: `Bearer ${credential}` }
    return (await load({ port: at, paths: [reads[name].path], headers, seconds })).perSecond
  }
  return {
    token: String(token),
    jwt: String(jwt),
    own: (name: string, credential: string) => run(port, name, credential),
    floor: (name: string) => run(floorPort, name, token),
  }
}
