import assert from 'node:assert/strict'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { silent } from '../../lib/attempt.ts'
import { LayerLimits } from './layer-limits.ts'
import { pretend } from './test-daemon.ts'

const gibibyte = 1024 ** 3
const signal = () => AbortSignal.timeout(60_000)
const btrfs = { Driver: 'btrfs', DriverStatus: [['Btrfs', '']], DockerRootDir: '/data' }
const zfs = { Driver: 'zfs', DriverStatus: [['Zpool', 'tank']], DockerRootDir: '/data' }
const ext4 = { Driver: 'overlay2', DriverStatus: [['Backing Filesystem', 'extfs']], DockerRootDir: '/data' }

interface Pretended {
  readonly limits: LayerLimits
  /** The requested size of each container; null: none. */
  readonly sizes: (string | null)[]
  readonly infos: () => number
  readonly refusals: string[]
  make(layerGiB?: number): Promise<string>
}

/**
 * A daemon of this kind, with images of 5 GiB. `refuse` returns why it rejects a container of that
 * size.
 */
const pretending = (
  info: () => object | Promise<object>,
  refuse: (size: string | null) => readonly [number, string] | undefined,
  work: (pretended: Pretended) => Promise<void>,
): Promise<void> => {
  const sizes: (string | null)[] = []
  const refusals: string[] = []
  let infos = 0
  return pretend(
    (request, response) => {
      const answer = (status: number, body: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (request.url?.startsWith('/info')) {
        infos++
        void Promise.resolve(info()).then((found) => answer(200, found))
        return
      }
      if (request.url?.startsWith('/images/')) {
        answer(200, { Id: 'image', Size: 5 * gibibyte })
        return
      }
      void json(request).then((body) => {
        const size = Object(body).HostConfig?.StorageOpt?.size ?? null
        sizes.push(size)
        const [status, message] = refuse(size) ?? [201, '']
        answer(status, status === 201 ? { Id: `container-${sizes.length}` } : { message })
      })
    },
    async (daemon) => {
      const limits = new LayerLimits({ daemon, whenRefused: (message) => void refusals.push(message) })
      const create = { name: 'name', spec: { Image: 'web:1', HostConfig: { Memory: 1 } }, output: silent }
      const make = (layerGiB?: number) =>
        limits.create({ image: 'web:1', ...(layerGiB !== undefined && { layerGiB }) }, create, signal())
      await work({ limits, sizes, infos: () => infos, refusals, make })
    },
  )
}
const never = () => undefined

test('a limit is set in bytes, plus the image’s size if the file system counts it', async () => {
  await pretending(
    () => btrfs,
    never,
    async ({ make, sizes }) => {
      await make(2)
      await make(0.5)
      assert.deepEqual(sizes, [String(7 * gibibyte), String(5.5 * gibibyte)])
    },
  )
  await pretending(
    () => zfs,
    never,
    async ({ make, sizes }) => {
      await make(2)
      assert.deepEqual(sizes, [String(2 * gibibyte)])
    },
  )
})

test('nothing is set without a limit, or on an engine that enforces none', async () => {
  await pretending(
    () => btrfs,
    never,
    async ({ make, sizes, infos }) => {
      await make()
      assert.deepEqual([sizes, infos()], [[null], 0])
    },
  )
  await pretending(
    () => ext4,
    never,
    async ({ make, sizes }) => {
      await make(2)
      assert.deepEqual(sizes, [null])
    },
  )
})

test('the daemon is asked once for each connection', () => {
  let info = btrfs
  return pretending(
    () => info,
    never,
    async ({ limits, make, sizes, infos }) => {
      await make(1)
      await Promise.all([make(1), make(1)])
      assert.equal(infos(), 1)
      info = ext4
      limits.forget()
      await make(1)
      assert.deepEqual([infos(), sizes.at(-1)], [2, null])
    },
  )
})

test('if the daemon rejects the limit, the container is created without it and this is reported once', () => {
  const message = "--storage-opt is supported only for overlay over xfs with 'pquota' mount option"
  const refuse = (size: string | null) => (size === null ? undefined : ([500, message] as const))
  return pretending(
    () => zfs,
    refuse,
    async ({ limits, make, sizes, refusals }) => {
      assert.equal(await make(1), 'container-2')
      assert.equal(await make(1), 'container-3')
      assert.deepEqual(sizes, [String(gibibyte), null, null])
      assert.deepEqual(refusals, [message])
      // A restart may have changed the answer.
      limits.forget()
      await make(1)
      assert.equal(sizes.at(-2), String(gibibyte))
    },
  )
})

test('concurrent rejections of the limit are reported once', () => {
  const refuse = (size: string | null) => (size === null ? undefined : ([500, 'failed to set quota'] as const))
  return pretending(
    () => zfs,
    refuse,
    async ({ make, refusals }) => {
      await Promise.all([make(1), make(1), make(1)])
      assert.equal(refusals.length, 1)
    },
  )
})

test('a slow answer about limits does not undo a rejection', () => {
  const refuse = (size: string | null) => (size === null ? undefined : ([500, 'failed to set quota'] as const))
  const slow = Promise.withResolvers<object>()
  let isFirst = true
  const info = () => {
    const answer = isFirst ? zfs : slow.promise
    isFirst = false
    return answer
  }
  return pretending(info, refuse, async ({ make, sizes, refusals }) => {
    const [first, second] = [make(1), make(1)]
    await first
    slow.resolve(zfs)
    await second
    assert.deepEqual([sizes, refusals.length], [[String(gibibyte), null, null], 1])
  })
})

test('a different failure affects one container, and the next one has its limit again', () => {
  let faults = 1
  const refuse = (size: string | null) => (size !== null && faults-- > 0 ? ([500, 'boom'] as const) : undefined)
  return pretending(
    () => zfs,
    refuse,
    async ({ make, sizes, refusals }) => {
      await make(1)
      await make(1)
      assert.deepEqual(sizes, [String(gibibyte), null, String(gibibyte)])
      assert.deepEqual(refusals, ['boom'])
    },
  )
})

test('a container that is rejected with and without a limit fails for its own reason, and limits stay on', () => {
  const refuse = () => [400, 'invalid mount path: quota'] as const
  return pretending(
    () => zfs,
    refuse,
    async ({ make, sizes, refusals }) => {
      const refused = { name: 'EngineError', reason: 'refused', message: /invalid mount path/ }
      await assert.rejects(make(1), refused)
      await assert.rejects(make(1), refused)
      assert.deepEqual([sizes[2], refusals], [String(gibibyte), []])
    },
  )
})

test('a full disk does not count as a rejection of the limit', () => {
  const refuse = () => [500, 'Failed to create btrfs snapshot: no space left on device'] as const
  return pretending(
    () => zfs,
    refuse,
    async ({ make, sizes }) => {
      await assert.rejects(make(1), { name: 'EngineError', reason: 'disk-full' })
      assert.equal(sizes.length, 1)
    },
  )
})
