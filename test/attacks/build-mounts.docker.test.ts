import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { contextOf, failureOf, recipeOf, recording } from '../../server/builders/builder.cases.ts'
import { baseImage, ensureBaseImage } from '../../server/builders/docker/base-image.ts'
import { mountHoles } from '../../server/builders/docker/check-mounts.ts'
import { createDockerBuilder } from '../../server/builders/docker/docker-builder.ts'
import { engineForTests } from '../../server/builders/docker/engine-for-tests.ts'
import { createTestBuildKit, whyNoOwnBuildKit } from '../../server/builders/docker/test-own-buildkit.ts'
import { newId } from '../../server/lib/id.ts'
import { openDocker } from '../support/docker.ts'

/**
 * Mounts of build steps that have BuildKit touch files of the machine: a step moves the directory
 * of its mount away and puts a link to a directory of the machine in its place. BuildKit before
 * 0.12.5, as in Docker 20.10, then removed empty files and sockets there (CVE-2024-23652).
 */
const { socketPath, skip } = await engineForTests()
const noOwn = await whyNoOwnBuildKit(socketPath, skip)
const docker = openDocker(socketPath)
const mounts = ['tmpfs', 'cache', 'bind,source=Dockerfile'] as const

/** Returns a Dockerfile whose step swaps `/zz` for a link to the directory. */
function swapping(mount: string, directory: string, name: string): string {
  const swap = `fs.renameSync('/zz', '/old'); fs.symlinkSync('${directory}', '/zz'); console.log('swapped')`
  const program = `/* ${newId()} */ const fs = require('fs'); ${swap}`
  const step = JSON.stringify(['node', '-e', program])
  return `FROM ${baseImage}\nRUN --mount=type=${mount},target=/zz/${name} ${step}\n`
}

describe('mounts of build steps and files of the machine', { skip }, () => {
  let directory = ''
  const signal = AbortSignal.timeout(120_000)
  const socket = createServer()
  before(async () => {
    await ensureBaseImage({ socketPath }, signal)
    directory = await mkdtemp(join(tmpdir(), 'quayside-mounts-'))
    for (const name of ['0', '1', '2']) await writeFile(join(directory, name), '')
    await new Promise<void>((resolve) => socket.listen(join(directory, 'socket'), resolve))
  })
  after(async () => {
    socket.close()
    await rm(directory, { recursive: true, force: true })
  })

  describe('on the platform’s own BuildKit', { skip: noOwn }, () => {
    const buildKit = createTestBuildKit(socketPath)
    const builder = createDockerBuilder({ socketPath, buildKit })
    after(() => buildKit.remove())
    const build = async (text: string) => {
      const recipe = recipeOf(newId(), text, { commit: newId().replaceAll('-', '').padStart(40, '0') })
      const { attempt, lines } = recording()
      // Newer versions report the swapped directory, or clean up inside of the step's files.
      const outcome = await builder.build(contextOf(recipe), recipe, attempt).catch((error: Error) => error.message)
      await builder.prune(recipe.service, [], signal)
      return { lines, outcome }
    }

    for (const [index, mount] of mounts.entries()) {
      test(`a mount of type ${mount} removes no file and no socket of the machine`, async () => {
        for (const name of [String(index), 'socket']) {
          const { lines, outcome } = await build(swapping(mount, directory, name))
          assert.ok(lines.includes('swapped'), `${JSON.stringify(outcome)}\n${lines.join('\n')}`)
          assert.ok(existsSync(join(directory, name)), `BuildKit removed ${name}`)
        }
      })
    }

    test('root in a step is an ordinary user of the machine, and its daemon has no rights on it', async () => {
      const show = "console.log(require('fs').readFileSync('/proc/self/uid_map', 'utf8').replace(/\\s+/g, ' '))"
      const { lines } = await build(`FROM ${baseImage}\nRUN ${JSON.stringify(['node', '-e', show])}\n`)
      assert.ok(lines.includes(' 0 1000 1 1 100000 2000000000 '), lines.join('\n'))
      const query = { filters: { label: [`quayside.instance=${buildKit.instance}`] } }
      const [container] = (await docker.ask({ method: 'GET', path: '/containers/json', query })) as { Id: string }[]
      const { HostConfig, Config } = Object(
        await docker.ask({ method: 'GET', path: `/containers/${container?.Id}/json` }),
      )
      const { Privileged, CapAdd, Binds, PidMode, IpcMode, UsernsMode, NetworkMode, Devices } = HostConfig
      assert.deepEqual(
        { Privileged, CapAdd, Binds, PidMode, UsernsMode, NetworkMode, Devices, user: Config.User },
        {
          ...{ Privileged: false, CapAdd: null, Binds: null, PidMode: '', UsernsMode: '', NetworkMode: 'bridge' },
          ...{ Devices: null, user: '1000:1000' },
        },
      )
      assert.equal(IpcMode, 'private')
    })
  })

  test('the BuildKit of an engine that has the hole gets no mount of a step', async (t) => {
    const { Version } = Object(await docker.ask({ method: 'GET', path: '/version' }))
    if (mountHoles(Version).length === 0) return t.skip(`Docker ${Version} does not have it`)
    const builder = createDockerBuilder({ socketPath })
    for (const mount of [...mounts, 'secret,id=TOKEN']) {
      const recipe = recipeOf(newId(), swapping(mount, directory, '0'))
      const error = await failureOf(builder.build(contextOf(recipe), recipe, recording().attempt))
      assert.equal(error.reason, 'dockerfile')
      assert.match(error.message, /"RUN --mount" is not allowed on Docker .*CVE-2024-23652.*it is switched off/)
    }
    return undefined
  })
})
