import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '../../lib/id.ts'
import { Secret } from '../../lib/secret.ts'
import { newRelease } from '../engine.cases.ts'
import type { LongRunning } from '../engine.ts'
import { fakeWorkload } from '../fake/fake-workload.ts'
import { containerSpec, hostConfig } from './container-spec.ts'
import { volumeName } from './labels.ts'

const spec = (changes: Partial<LongRunning> = {}, release = newRelease({ ...fakeWorkload('web:1'), ...changes })) =>
  containerSpec(release, 1, { instance: 'here', withInit: true })

describe('the container of a release', () => {
  it('publishes a port of all addresses for both families', () => {
    const published = (hostAddress: string) => {
      const port = { internalPort: 5432, protocol: 'TCP', hostAddress, hostPort: 30_001 } as const
      return hostConfig(newRelease({ ...fakeWorkload('db'), publishedPorts: [port] }), true).PortBindings
    }
    assert.deepEqual(published('::'), { '5432/tcp': [{ HostIp: '', HostPort: '30001' }] })
    assert.deepEqual(published('127.0.0.1'), { '5432/tcp': [{ HostIp: '127.0.0.1', HostPort: '30001' }] })
  })

  it('has these members of HostConfig and no others', () => {
    const volume = { id: newId(), mountPoint: '/data', sizeGiB: 1 }
    const release = newRelease({ ...fakeWorkload('web'), cpuMilli: 250, memoryMiB: 64, storage: [volume] })
    assert.deepEqual(hostConfig(release, true), {
      CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'NET_BIND_SERVICE', 'SETGID', 'SETUID'],
      CapDrop: ['ALL'],
      Init: true,
      LogConfig: { Type: 'local', Config: { 'max-size': '10m', 'max-file': '3' } },
      Memory: 67_108_864,
      MemorySwap: 67_108_864,
      Mounts: [{ Type: 'volume', Source: volumeName(volume), Target: '/data' }],
      NanoCpus: 250_000_000,
      NetworkMode: `quay-env-${release.environment}`,
      PidsLimit: 512,
      RestartPolicy: { Name: 'always', MaximumRetryCount: 0 },
      SecurityOpt: ['no-new-privileges:true'],
    })
  })

  it('has these members and no others, whatever else the workload contains', () => {
    const extra = {
      privileged: true,
      HostConfig: { Privileged: true },
      binds: ['/:/host'],
      network_mode: 'host',
      cap_add: ['ALL'],
    }
    const workload: LongRunning = { ...fakeWorkload('web'), entrypoint: ['a'], arguments: ['b'] }
    const release = newRelease(Object.assign(workload, extra))
    assert.deepEqual(Object.keys(spec({}, release)).sort(), [
      'Cmd',
      'Entrypoint',
      'Env',
      'Healthcheck',
      'HostConfig',
      'Image',
      'Labels',
      'NetworkingConfig',
      'StopTimeout',
    ])
    assert.equal(JSON.stringify(spec({}, release)).includes('rivileged"'), false)
  })

  it('prefixes labels of users, so that none passes for a platform label', () => {
    const labels = spec({ labels: { team: 'shop', 'quayside.instance': 'other' } }).Labels ?? {}
    assert.equal(labels['quayside.label.team'], 'shop')
    assert.equal(labels['quayside.label.quayside.instance'], 'other')
    assert.deepEqual([labels['quayside.instance'], 'team' in labels], ['here', false])
  })

  it('passes entrypoint and arguments unchanged, and an entrypoint replaces the image’s command', async () => {
    assert.deepEqual(spec({ arguments: ['--privileged', ';id', '$HOME'] }).Cmd, ['--privileged', ';id', '$HOME'])
    assert.equal('Cmd' in spec(), false)
    assert.deepEqual(spec({ entrypoint: ['/run'] }).Cmd, [])
  })

  it('contains secrets only in its environment variables', () => {
    const made = spec({ variables: { A: 'x=y', B: new Secret('canary') } })
    assert.deepEqual(made.Env, ['A=x=y', 'B=canary'])
    assert.equal(JSON.stringify({ ...made, Env: [] }).includes('canary'), false)
  })

  it('rejects variables that Docker would drop or change', () => {
    for (const name of ['', 'A B', 'A=B', 'A\nB', 'A\0'])
      assert.throws(() => spec({ variables: { [name]: 'x' } }), { reason: 'refused' })
    const hidden = { A: new Secret('canary\0') }
    assert.throws(
      () => spec({ variables: hidden }),
      (error) => String(error).includes('variable A') && !String(error).includes('canary'),
    )
  })

  it('rejects paths that escape their directory', () => {
    for (const path of ['/', '', 'data', '/data/../etc', '/data/', '//data', '/proc/1', '/sys', '/dev/shm', '/a\0b']) {
      const refused = { reason: 'refused' }
      assert.throws(() => spec({ storage: [{ id: newId(), mountPoint: path, sizeGiB: 1 }] }), refused, path)
      assert.throws(() => spec({ files: [{ path, content: '' }] }), refused, path)
    }
  })

  it('keeps the service’s name in a label', () => {
    const release = newRelease(fakeWorkload('web'), { displayName: 'a b; $(id)' })
    assert.equal(spec({}, release).Labels?.['quayside.name'], 'a b; $(id)')
  })
})
