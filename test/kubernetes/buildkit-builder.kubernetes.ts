import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import {
  type BuildKind,
  builderCases,
  contextOf,
  failureOf,
  recipeOf,
  recording,
} from '../../server/builders/builder.cases.ts'
import type { Builder, BuildRecipe, Image } from '../../server/builders/builder.ts'
import { createBuildKitBuilder, storedTag } from '../../server/builders/buildkit/buildkit-builder.ts'
import {
  makeImage,
  startTestRegistry,
  type TestRegistry,
  tarOf,
} from '../../server/engines/docker/registry/test-registry.ts'
import { createImageMirror } from '../../server/engines/index.ts'
import { createAddressGuard } from '../../server/lib/address.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { Secret } from '../../server/lib/secret.ts'
import { type Registry, startRegistry } from '../support/registry.ts'
import { startTestDaemon, type TestDaemon } from './support/buildkit-daemon.ts'

let counter = 0

describe('with a BuildKit daemon', () => {
  let source: TestRegistry
  let target: Registry
  let daemon: TestDaemon
  let directory: string
  let builder: Builder

  before(async () => {
    ;[source, target, daemon] = await Promise.all([startTestRegistry(), startRegistry(), startTestDaemon()])
    directory = await mkdtemp(join(tmpdir(), 'quayside-results-'))
    const busybox = await tarOf(await readFile('/usr/bin/busybox'), { name: 'bin/busybox', mode: 0o755 })
    source.put(await makeImage({ layers: [busybox], config: { config: { Env: ['PATH=/bin'] } } }), '1')
    const login = { username: target.username, password: new Secret(target.password) }
    const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'] })
    const mirror = createImageMirror({
      clock,
      guard,
      maxImageBytes: 64 * 1024 ** 2,
      floorBytes: 0,
      spoolDirectory: directory,
      insecureRegistries: [],
      target: async () => ({ repository: `${target.host}/platform`, login }),
    })
    builder = createBuildKitBuilder({
      openDaemon: daemon.open,
      results: mirror.resultsOf('built-tests'),
      bases: { open: mirror.openPublic, isOwn: (image) => image.startsWith(`${target.host}/`) },
      guard,
    })
  })
  after(async () => {
    await daemon.close()
    await Promise.all([source.close(), target.close(), rm(directory, { recursive: true, force: true })])
  })

  const stepOf = (script: string): string => {
    const command = ['/bin/busybox', 'sh', '-c', `: ${process.pid} ${counter++}; ${script}`]
    return `RUN ${JSON.stringify(command)}\n`
  }
  const running = (script: string): string => `FROM ${source.host}/team/busybox:1\n${stepOf(script)}`
  const dockerfile = (_service: string, { does, prints }: BuildKind): string => {
    const print = prints.map((line) => `/bin/busybox echo '${line}'`).join('; ')
    const ends = { succeed: ':', fail: 'exit 3', hang: '/bin/busybox sleep 1000' } as const
    return running(`${print || ':'}; ${ends[does]}`)
  }
  builderCases('BuildKit', () => ({ builder, dockerfile }))

  const service = `test-${process.pid}`
  const build = async (text: string, change: Partial<BuildRecipe> = {}) => {
    const recipe = recipeOf(service, text, { commit: `${counter++}`.padStart(40, '0'), ...change })
    const { attempt, lines } = recording()
    const image = await builder.build(contextOf(recipe), recipe, attempt)
    return { image, lines }
  }
  const mounting = (mount: string, script: string): string => running(script).replace('RUN ', `RUN --mount=${mount} `)

  /** Returns every unpacked blob of an image, one after the other. */
  const contentOf = async ({ reference }: Image): Promise<string> => {
    const authorization = `Basic ${Buffer.from(`${target.username}:${target.password}`).toString('base64')}`
    const ask = async (path: string): Promise<Buffer> => {
      const url = `http://${target.host}/v2/platform/built-tests/${path}`
      const accept = 'application/vnd.oci.image.manifest.v1+json'
      return Buffer.from(await (await fetch(url, { headers: { authorization, accept } })).arrayBuffer())
    }
    const bytes = await ask(`manifests/${storedTag(reference)}`)
    const { config, layers } = JSON.parse(bytes.toString())
    const blobs = await Promise.all([config, ...layers].map(({ digest }) => ask(`blobs/${digest}`)))
    const unpacked = blobs.map((blob) => (blob[0] === 0x1f ? gunzipSync(blob) : blob).toString('latin1'))
    return [bytes.toString(), ...unpacked].join('\n')
  }

  test('a secret reaches the step that mounts it, and neither the next one nor a layer', async () => {
    const canary = `CANARY-${randomBytes(12).toString('hex')}`
    const read = '/bin/busybox sha256sum /run/secrets/TOKEN'
    const first = mounting('type=secret,id=TOKEN', `${read}; echo MARK > /marker`)
    const text = `${first}${stepOf('[ -e /run/secrets/TOKEN ] || echo none')}`
    const { image, lines } = await build(text, { secrets: { TOKEN: new Secret(canary) }, secretsHash: 'one' })
    const hash = createHash('sha256').update(canary).digest('hex')
    assert.ok(
      lines.some((line) => line.startsWith(hash)),
      lines.join('\n'),
    )
    assert.ok(lines.includes('none'))
    const content = await contentOf(image)
    assert.ok(content.includes('MARK'))
    assert.ok(!content.includes(canary))
    assert.ok(!lines.join('\n').includes(canary))
  })

  test('services share no cache mounts', async () => {
    const list = 'echo found $(/bin/busybox ls /cache)'
    const mount = 'type=cache,id=shared,target=/cache'
    await build(mounting(mount, 'echo x > /cache/poison'))
    assert.ok((await build(mounting(mount, list))).lines.includes('found poison'))
    const other = await build(mounting(mount, list), { service: `${service}-other` })
    assert.ok(other.lines.includes('found'), other.lines.join('\n'))
  })

  for (const flag of ['--security=insecure', '--network=host', '--mount=type=ssh,required']) {
    test(`a step gets no more rights by ${flag}`, async () => {
      const error = await failureOf(build(running('echo ran').replace('RUN ', `RUN ${flag} `)))
      assert.ok(['dockerfile', 'failed'].includes(error.reason), `${error.reason} ${error.message}`)
    })
  }

  test('a build uses no image of the registry of the clusters, and no name of the server', async () => {
    const digest = 'a'.repeat(64)
    const names = [
      `${target.host}/platform/built-tests:x`,
      `base.quayside.invalid/image:${digest}-1`,
      'quayside/other:1',
    ]
    for (const name of names) {
      for (const text of [`FROM ${name}\n`, `FROM scratch\nCOPY --from=${name} / /\n`]) {
        const { reason, message } = await failureOf(build(text))
        assert.equal(reason, 'dockerfile', message)
      }
    }
  })
})
