import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChosenService, deploymentBody, versionNoun } from './deployment-body.ts'

const chosen = (kind: ChosenService['kind'], isFromGit: boolean, version = ''): ChosenService => ({
  id: kind,
  kind,
  isFromGit,
  version,
})
const nothing = { applications: [], containers: [], databases: [], jobs: [], helms: [], terraforms: [] }

test('a version is a commit for services from git, and a tag or a chart version otherwise', () => {
  assert.deepEqual(
    deploymentBody([
      chosen('application', true, 'abc'),
      chosen('container', false, '1.2'),
      chosen('job', true, 'abc'),
      chosen('helm', false, '3.0.0'),
      chosen('terraform', true),
      chosen('database', false),
    ]),
    {
      applications: [{ application_id: 'application', git_commit_id: 'abc' }],
      containers: [{ id: 'container', image_tag: '1.2' }],
      databases: ['database'],
      jobs: [{ id: 'job', git_commit_id: 'abc' }],
      helms: [{ id: 'helm', chart_version: '3.0.0' }],
      terraforms: [{ id: 'terraform' }],
    },
  )
  assert.deepEqual(deploymentBody([chosen('job', false, '2')]), { ...nothing, jobs: [{ id: 'job', image_tag: '2' }] })
  assert.deepEqual(deploymentBody([chosen('application', true)]), {
    ...nothing,
    applications: [{ application_id: 'application' }],
  })
})

test('databases have no version to choose', () => {
  assert.deepEqual(
    [versionNoun(chosen('database', false)), versionNoun(chosen('job', false)), versionNoun(chosen('helm', true))],
    [undefined, 'image tag', 'commit'],
  )
})
