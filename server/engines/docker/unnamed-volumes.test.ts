import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label } from './labels.ts'
import { countUnnamedVolumes } from './unnamed-volumes.ts'

const volume = (Name: string, Size: number, Labels: Record<string, string> | null = null) => ({
  Name,
  Labels,
  UsageData: { Size },
})
const mount = (Name: string, Type = 'volume') => ({ Type, Name })
const sizes = (measured: Parameters<typeof countUnnamedVolumes>[0]) =>
  countUnnamedVolumes(measured).Containers?.map(({ SizeRw }) => SizeRw)

test('unnamed volumes count towards their container’s layer, each once', () => {
  const Volumes = [volume('a', 5), volume('b', 7, { 'com.docker.volume.anonymous': '' }), volume('c', 100)]
  const Mounts = [mount('a'), mount('a'), mount('b'), mount('c', 'bind'), mount('gone')]
  assert.deepEqual(sizes({ Volumes, Containers: [{ SizeRw: 1, Mounts }, { Mounts: [mount('a')] }] }), [13, 5])
})

test('volumes of storages are counted separately', () => {
  const Volumes = [volume('quay-a', 5, { [label.instance]: 'here' })]
  assert.deepEqual(sizes({ Volumes, Containers: [{ SizeRw: 1, Mounts: [mount('quay-a')] }] }), [1])
})

test('volumes of unknown size count as zero', () => {
  const Volumes = [volume('a', -1), { Name: 'b', UsageData: null }]
  assert.deepEqual(sizes({ Volumes, Containers: [{ Mounts: [mount('a'), mount('b')] }, { Mounts: null }] }), [0, 0])
  assert.deepEqual(countUnnamedVolumes({ Volumes: null, Containers: null }), { Volumes: null, Containers: null })
})
