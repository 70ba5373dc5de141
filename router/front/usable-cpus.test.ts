import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import test from 'node:test'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { beds, testBed } from '../test-bed.ts'
import { cpusIn, usableCpus } from './usable-cpus.ts'

const filesOf = (allowed: string, online = '0-255\n', nodes = '0\n') => ({
  status: `Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t${allowed}\nMems_allowed_list:\t0\n`,
  online,
  nodes,
})

test('the CPUs of a process are those it is allowed to use that are online', () => {
  assert.deepEqual(cpusIn(filesOf('0-1')), [0, 1])
  assert.deepEqual(cpusIn(filesOf('1,4-6,9')), [1, 4, 5, 6, 9])
  assert.deepEqual(cpusIn(filesOf('0-127', '0-1\n')), [0, 1])
  assert.deepEqual(cpusIn(filesOf('2-9', '0,2-3,8\n')), [2, 3, 8])
  assert.deepEqual(cpusIn(filesOf('100-101')), [100, 101])
})

test('threads are not bound to one CPU, to very many, beside several nodes of memory, or to unknown ones', () => {
  for (const list of ['0', '0-60', '3-1', 'x', '']) assert.equal(cpusIn(filesOf(list)), undefined, list)
  assert.equal(cpusIn(filesOf('0-1', '0\n')), undefined)
  assert.equal(cpusIn(filesOf('0-1', '0-999999999\n'))?.length, 2)
  assert.equal(cpusIn(filesOf('0-1', '0-1\n', '0-1\n')), undefined)
  assert.equal(cpusIn({ ...filesOf('0-1'), status: 'Name:\tnode\n' }), undefined)
})

const cpus = await usableCpus()
const skip = (await missingHaproxy()) ?? (cpus === undefined && 'this machine has no two CPUs for one process')

test('each thread of HAProxy has a CPU of its own', { skip }, async (t) => {
  beds.haproxy = haproxy
  const bed = await testBed(t)
  const { body } = await bed.tell('GET', '/health')
  const folder = `/proc/${body['haproxyPid']}/task`
  const threads = await readdir(folder)
  const bound = await Promise.all(
    threads.map(
      async (thread) => /Cpus_allowed_list:\t(.*)/.exec(await readFile(`${folder}/${thread}/status`, 'utf8'))?.[1],
    ),
  )
  assert.equal(threads.length, cpus?.length)
  assert.equal(new Set(bound).size, threads.length, bound.join())
  assert.match(bound.join(), /^[\d,]+$/)
})
