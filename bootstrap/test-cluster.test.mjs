import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoCluster } from './test-cluster.mjs'

/** @param {readonly string[]} absent */
const machine = (...absent) => ({
  isApt: true,
  isRoot: true,
  platform: /** @type {NodeJS.Platform} */ ('linux'),
  /** @param {string} name */
  has: (name) => !absent.includes(name),
})

test('a machine that has everything, or can install it, runs the test cluster', () => {
  assert.equal(whyNoCluster(machine()), undefined)
  assert.equal(whyNoCluster(machine('containerd', 'bridge')), undefined)
})

test('whyNoCluster says what a machine lacks', () => {
  assert.match(whyNoCluster({ ...machine(), platform: 'darwin' }) ?? '', /Linux/)
  assert.match(whyNoCluster({ ...machine(), isRoot: false }) ?? '', /root/)
  assert.match(whyNoCluster(machine('go')) ?? '', /Go, which is not installed/)
  assert.match(
    whyNoCluster({ ...machine('containerd', 'bridge'), isApt: false }) ?? '',
    /missing: containerd, containernetworking-plugins$/,
  )
})
