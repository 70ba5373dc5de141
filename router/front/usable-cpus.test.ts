import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import test from 'node:test'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { beds, testBed } from '../test-bed.ts'
import { cpusIn, usableCpus } from './usable-cpus.ts'

const allowed = (list: string): string =>
  `Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t${list}\nMems_allowed_list:\t0\n`

test('the CPUs of a process are read from its status', () => {
  assert.deepEqual(cpusIn(allowed('0-1'), '0\n'), { count: 2, ranges: ['0-1'] })
  assert.deepEqual(cpusIn(allowed('1,4-6,9'), '0\n'), { count: 5, ranges: ['1', '4-6', '9'] })
})

test('threads are not bound to one CPU, to very many, beside several nodes of memory, or to unknown ones', () => {
  for (const list of ['0', '0-64', 'x', '']) assert.equal(cpusIn(allowed(list), '0\n'), undefined, list)
  assert.equal(cpusIn(allowed('0-1'), '0-1\n'), undefined)
  assert.equal(cpusIn('Name:\tnode\n', '0\n'), undefined)
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
  assert.equal(threads.length, cpus?.count)
  assert.equal(new Set(bound).size, threads.length, bound.join())
  assert.match(bound.join(), /^[\d,]+$/)
})
