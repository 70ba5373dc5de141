import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import { settingDefaults } from '@quayside/contract/services/setting-table.ts'
import {
  buildLimitsOf,
  isBuiltWithoutCache,
  isRecreated,
  programSettings,
  stopGraceSeconds,
} from './acting-settings.ts'

const key = 'deployment.termination_grace_period_seconds'

test('the grace period of a replica is the advanced setting of its kind', () => {
  assert.equal(stopGraceSeconds('application', {}), 60)
  assert.equal(stopGraceSeconds('container', { [key]: 5 }), 5)
  assert.equal(stopGraceSeconds('database', {}), 10)
})

test('lifecycle commands and a read-only root come from the settings of kinds that have them', () => {
  const sent = {
    'security.read_only_root_filesystem': true,
    'deployment.lifecycle.post_start_exec_command': ['warm', 'up'],
    'deployment.lifecycle.pre_stop_exec_command': ['say', 'goodbye'],
  }
  const all = { hasReadOnlyRoot: true, postStart: ['warm', 'up'], preStop: ['say', 'goodbye'] }
  assert.deepEqual(programSettings('application', sent), all)
  assert.deepEqual(programSettings('job', sent), { hasReadOnlyRoot: true })
  assert.deepEqual(programSettings('database', sent), {})
})

test('the choice of nodes comes from the settings of kinds that have it', () => {
  const nodes = { disk: 'fast' }
  const sent = {
    'deployment.affinity.node.required': nodes,
    'deployment.antiaffinity.pod': 'Requirred',
    'deployment.topology_spread.zone': 'DoNotSchedule',
  }
  assert.deepEqual(programSettings('application', sent), { nodeLabels: nodes, needsOwnNodes: true, zones: 'required' })
  assert.deepEqual(programSettings('job', sent), { nodeLabels: nodes })
  assert.deepEqual(programSettings('database', sent), {})
  const usual = { 'deployment.antiaffinity.pod': 'Preferred', 'deployment.topology_spread.zone': 'ScheduleAnyway' }
  assert.deepEqual(programSettings('container', usual), { zones: 'preferred' })
})

test('default lifecycle commands are not run, whether they were sent or not', () => {
  assert.deepEqual(programSettings('application', {}), {})
  assert.deepEqual(programSettings('application', settingDefaults(settingsOfKind('application'))), {})
})

test('a build ignores the cache only if its settings say so', () => {
  assert.equal(isBuiltWithoutCache({}), false)
  assert.equal(isBuiltWithoutCache({ 'build.disable_buildkit_cache': true }), true)
})

test('two versions run at once unless the advanced settings forbid it', () => {
  const strategy = 'deployment.update_strategy.type'
  assert.equal(isRecreated('application', {}), false)
  assert.equal(isRecreated('container', { [strategy]: 'Recreate' }), true)
  assert.equal(isRecreated('database', {}), false)
})

test('a build gets the limits of its settings, and never more than the platform allows', () => {
  const platform = { cpuMilli: 4000, memoryMiB: 4096, timeoutSeconds: 1800, maxLogBytes: 1 }
  assert.deepEqual(buildLimitsOf(platform, {}), platform)
  const small = { 'build.cpu_max_in_milli': 500, 'build.ram_max_in_gib': 1, 'build.timeout_max_sec': 60 }
  const limits = { cpuMilli: 500, memoryMiB: 1024, timeoutSeconds: 60, maxLogBytes: 1 }
  assert.deepEqual(buildLimitsOf(platform, small), limits)
  const large = { 'build.cpu_max_in_milli': 64_000, 'build.ram_max_in_gib': 64, 'build.timeout_max_sec': 0 }
  assert.deepEqual(buildLimitsOf(platform, large), platform)
})
