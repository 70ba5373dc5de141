import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import { declaredStages, type ExportedStage } from './terraform-stages.ts'

const stage = (name: string, ...services: readonly string[]): ExportedStage => ({
  name,
  description: '',
  services: services.map((service_id) => ({ service_id, is_skipped: false })),
})
/** The services are named after their kind. */
const kindOf = (id: string): KindName => id.split(' ')[0] as KindName
const namesOf = (...stages: readonly ExportedStage[]) => declaredStages(stages, kindOf).map(({ name }) => name)

test('no stage is declared if each service is where a new one goes', () => {
  assert.deepEqual(
    namesOf(
      stage('DEFAULT DATABASE', 'database'),
      stage('DEFAULT JOB'),
      stage('DEFAULT CONTAINER', 'container 1', 'container 2'),
      stage('DEFAULT APPLICATION', 'application', 'helm'),
    ),
    [],
  )
})

test('all stages in use are declared once a service is elsewhere', () => {
  assert.deepEqual(
    namesOf(
      stage('DEFAULT DATABASE', 'database', 'job'),
      stage('DEFAULT JOB'),
      stage('DEFAULT CONTAINER', 'container'),
    ),
    ['DATABASE', 'CONTAINER'],
  )
})

test('all stages in use are declared if the order is another one, or one is new', () => {
  assert.deepEqual(namesOf(stage('DEFAULT JOB', 'job'), stage('DEFAULT DATABASE', 'database')), ['JOB', 'DATABASE'])
  assert.deepEqual(namesOf(stage('DEFAULT DATABASE', 'database'), stage('last')), ['DATABASE', 'last'])
})

test('a declared stage has a name of its own', () => {
  assert.deepEqual(namesOf(stage('database'), stage('DEFAULT DATABASE', 'job'), stage('DATABASE 2')), [
    'database',
    'DATABASE 3',
    'DATABASE 2',
  ])
})
