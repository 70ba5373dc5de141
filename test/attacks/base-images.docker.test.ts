import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { contextOf, failureOf, recipeOf, recording, tarOf } from '../../server/builders/builder.cases.ts'
import type { BaseImages, BuildRecipe } from '../../server/builders/builder.ts'
import { baseImage, ensureBaseImage } from '../../server/builders/docker/base-image.ts'
import { createDockerBaseImages } from '../../server/builders/docker/docker-base-images.ts'
import { createDockerBuilder } from '../../server/builders/docker/docker-builder.ts'
import { engineForTests } from '../../server/builders/docker/engine-for-tests.ts'
import { createTestBuildKit } from '../../server/builders/docker/test-own-buildkit.ts'
import { changeImage, removeImages, tagImage } from '../../server/engines/docker/test-push.ts'
import { openDocker } from '../support/docker.ts'

/** A Dockerfile and its base images must not make the engine open or read anything else. */
const { socketPath, skip } = await engineForTests()
const buildKit = createTestBuildKit(socketPath)
const docker = openDocker(socketPath)
const namespace = `attack-${process.pid}`
const service = `test-base-${process.pid}`
const signal = AbortSignal.timeout(200_000)
let count = 0

describe('base images of builds', { skip }, () => {
  /** Records what the engine requests from a program on the loopback device. */
  const asked: string[] = []
  const secret = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.end('HOST-SECRET')
  })
  const made: string[] = []
  let host = ''
  before(async () => {
    await ensureBaseImage({ socketPath }, signal)
    await new Promise<void>((resolve) => secret.listen(0, '127.0.0.1', resolve))
    // The address of a TCP server.
    host = `127.0.0.1:${(secret.address() as AddressInfo).port}`
  })
  after(async () => {
    secret.close()
    await createDockerBuilder({ socketPath }).prune(service, [], signal)
    await buildKit.remove()
    await removeImages(socketPath, made)
  })
  const image = async (name: string, changes: readonly string[]): Promise<string> => {
    const reference = `${host}/${name}:1`
    await changeImage(socketPath, baseImage, reference, changes)
    made.push(reference)
    return reference
  }
  const baseImages = createDockerBaseImages({ socketPath, namespace })
  const build = async (dockerfileText: string, images: BaseImages = baseImages, change: Partial<BuildRecipe> = {}) => {
    const recipe = recipeOf(service, dockerfileText, {
      commit: `${process.pid}${count++}`.padStart(40, '0'),
      ...change,
    })
    const { attempt, lines } = recording()
    const built = await createDockerBuilder({ socketPath, baseImages: images, buildKit }).build(
      contextOf(recipe),
      recipe,
      attempt,
    )
    return { lines, built }
  }
  /** Returns a step that differs from all earlier ones. */
  const print = (text: string): string =>
    `RUN ${JSON.stringify(['/usr/local/bin/node', '-p', `/* ${process.pid} ${count++} */ ${text}`])}`
  const tagsOf = async (id: string): Promise<readonly string[]> => (await docker.inspectImage(id)).RepoTags

  test('ONBUILD steps of a base image open no address of the machine', async () => {
    for (const trigger of [
      `ADD http://${host}/ /x`,
      `ADD ["ht\\\\u0074p://${host}/", "/x"]`,
      'COPY --from=busybox / /x',
    ]) {
      const base = await image('onbuild', [`ONBUILD ${trigger}`])
      const { message } = await failureOf(build(`FROM ${base}\n${print('"unreached"')}\n`))
      assert.match(message, /^Dockerfile, line 1: the base image ".+" has the ONBUILD instruction "/)
      // A stage that begins with another stage adds no such step.
      assert.match(
        (await failureOf(build(`FROM ${baseImage} AS a\nFROM a\nFROM ${base}\nCOPY --from=a / /b\n`))).message,
        /line 3: the base/,
      )
    }
    assert.deepEqual(asked, [])
  })

  test('ONBUILD works if it only runs steps and copies files', async () => {
    const base = await image('steps', [`ONBUILD ${print('"triggered"')}`, 'ONBUILD COPY Dockerfile /copied'])
    const { lines } = await build(
      `FROM ${base}\n${print('require("fs").readFileSync("/copied", "utf8").length > 0')}\n`,
    )
    assert.ok(lines.includes('triggered') && lines.includes('true'), lines.join('\n'))
    // Copying files from an image does not trigger its ONBUILD steps.
    const other = await image('unused', [`ONBUILD ADD http://${host}/ /x`])
    await build(
      `FROM ${baseImage}\nCOPY --from=${other} /tmp /y\nRUN --mount=from=${other},target=/z ` +
        `["/usr/local/bin/node","-v"]\n`,
    )
    assert.deepEqual(asked, [])
  })

  test('an image on the engine is used without asking its registry and keeps its name in the log', async () => {
    const base = await image('there', ['ENV WHO=there'])
    const text =
      `FROM ${base} AS one\nFROM one\nCOPY --from=${base} /tmp /y\nRUN --mount=from=${base},target=/z ` +
      `${print('process.env.WHO').slice(4)}\n`
    const { lines } = await build(text)
    assert.ok(lines.includes('there'), lines.join('\n'))
    assert.ok(
      lines.some((line) => line.includes(`--from=${base}`)),
      lines.join('\n'),
    )
    assert.ok(!lines.join('\n').includes('quayside.invalid'), lines.join('\n'))
    assert.deepEqual(asked, [])
  })

  test('an image that is replaced while a build begins is not used', async () => {
    const base = await image('exchanged', ['ENV WHO=checked'])
    const evil = await image('evil', ['ENV WHO=evil', `ONBUILD ADD http://${host}/ /x`])
    const exchanging: BaseImages = {
      async bring(name, organization, attempt) {
        const brought = await baseImages.bring(name, organization, attempt)
        await tagImage(socketPath, evil, base)
        return brought
      },
    }
    const { lines } = await build(`FROM ${base}\n${print('process.env.WHO')}\n`, exchanging)
    assert.ok(lines.includes('checked') && !lines.includes('evil'), lines.join('\n'))
    assert.deepEqual(asked, [])
  })

  test('an image for another platform is refused without asking its registry', async () => {
    const base = `${host}/foreign:1`
    const layer = Buffer.alloc(1024)
    const config = JSON.stringify({
      architecture: 's390x',
      os: 'linux',
      config: {},
      rootfs: { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(layer).digest('hex')}`] },
    })
    const manifest = JSON.stringify([{ Config: 'config.json', RepoTags: [base], Layers: ['layer.tar'] }])
    const files = { 'config.json': config, 'manifest.json': manifest, 'layer.tar': layer }
    await docker.load(await tarOf(files)())
    made.push(base)
    const { message } = await failureOf(build(`FROM ${base}\n`))
    assert.match(message, /built for linux\/s390x, but the engine runs linux\//)
    assert.deepEqual(asked, [])
  })

  test('a build leaves no names of its images on the engine', async () => {
    const base = await image('left', ['ENV WHO=left'])
    const { Id } = await docker.inspectImage(base)
    await Promise.all([build(`FROM ${base}\n${print('1')}\n`), build(`FROM ${base}\n${print('2')}\n`)])
    await failureOf(build(`FROM ${base}\n${print('process.exit(3)')}\n`))
    assert.deepEqual(await tagsOf(Id), [base])
    // A process that was killed left such a name. The next process removes it.
    await tagImage(socketPath, base, `base.quayside.invalid/image:${namespace}-left`)
    await build(`FROM ${base}\n${print('3')}\n`, createDockerBaseImages({ socketPath, namespace }))
    assert.deepEqual(await tagsOf(Id), [base])
  })

  test('the image of a service cannot be used under any of its names', async () => {
    const { built } = await build(`FROM ${baseImage}\n${print('"mine"')}\n`)
    const { Id } = await docker.inspectImage(built.digest)
    const hex = Id.replace('sha256:', '')
    const names = [`${host}/mine:1`, 'mine-of-the-test:1', `docker.io/library/mine-of-the-test:1`]
    for (const name of names.slice(0, 2)) {
      await tagImage(socketPath, Id, name)
      made.push(name)
    }
    for (const name of [
      built.reference,
      Id,
      hex,
      hex.slice(0, 12),
      `sha256:${hex.slice(0, 12)}`,
      `sha256:${hex}`,
      `library/${hex.slice(0, 12)}`,
      ...names,
    ]) {
      for (const text of [
        `FROM ${name}\n`,
        `FROM ${baseImage}\nCOPY --from=${name} / /x\n`,
        `FROM ${baseImage}\nRUN --mount=from=${name},target=/x ["/usr/local/bin/node","-v"]\n`,
      ]) {
        const { message } = await failureOf(build(text))
        assert.match(
          message,
          /is reserved for images that this platform builds|not the name of an image|was built by this platform for a service|is not on the engine and could not be fetched/,
          `${text}: ${message}`,
        )
      }
    }
    assert.deepEqual(asked, [])
  })

  test('bytes that parsers read differently do not reach the engine', async () => {
    for (const line of [
      `# x\r \\\nADD http://${host}/ /x`,
      `# x\u2028\\\nADD http://${host}/ /x`,
      `# x \\\u0085\nADD http://${host}/ /x`,
    ]) {
      assert.equal((await failureOf(build(`FROM ${baseImage}\n${line}\n`))).reason, 'dockerfile')
    }
    assert.deepEqual(asked, [])
  })

  test('the archive cannot replace the Dockerfile that was checked', async () => {
    const recipe = recipeOf(service, `FROM ${baseImage}\n${print('"read"')}\n`, {
      commit: `${process.pid}${count++}`.padStart(40, '0'),
    })
    const other = contextOf({
      ...recipe,
      dockerfileText: `FROM ${baseImage}\nADD http://${host}/ /x\n${print('"other"')}\n`,
    })
    const { attempt, lines } = recording()
    await createDockerBuilder({ socketPath, baseImages, buildKit }).build(other, recipe, attempt)
    assert.ok(lines.includes('read') && !lines.includes('other'), lines.join('\n'))
    assert.deepEqual(asked, [])
  })
})
