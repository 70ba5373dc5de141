import type { OperationName } from '../../../contract/contract.ts'
import type { Objects } from '../../support/fixture.ts'
import type { Good } from '../requests.ts'

const create: Good = { body: { key: 'NEW_KEY', value: 'new' } }
const edit: Good = { body: { key: 'OTHER_KEY', value: 'other' } }
const alias: Good = { body: { key: 'SECOND_NAME', description: 'the same by another name' } }

/** Only variables of a wider scope can be overridden. */
const overrideOf = (choose: (objects: Objects) => Partial<Objects>): Good => ({
  body: { value: 'mine', description: null },
  prepare: async (_platform, objects) => choose(objects),
})
const variableOf = (kind: 'container' | 'job'): Good =>
  overrideOf(({ more, variables }) => ({
    more: { ...more, [`${kind}.environmentVariableId`]: variables.environment },
  }))
const secretOf = (kind: 'container' | 'job'): Good =>
  overrideOf(({ more, secrets }) => ({ more: { ...more, [`${kind}.secretId`]: secrets.project } }))

const imported = (scope: string): Good => ({
  body: {
    overwrite: true,
    vars: [
      { name: 'IMPORTED', value: 'text', scope, is_secret: false },
      { name: 'IMPORTED_SECRET', value: 'text', scope: 'ENVIRONMENT', is_secret: true },
    ],
  },
})

/** A variable that has a user. */
const used: Good = {
  prepare: async ({ call, a }, { variables, environmentId }) => {
    const body = { key: `USES_${environmentId.slice(-4)}`, alias_scope: 'ENVIRONMENT', alias_parent_id: environmentId }
    await call(a.tokens.ADMIN, 'POST', `/variable/${variables.project}/alias`, body)
    return undefined
  },
}

export const variables: Partial<Record<OperationName, Good>> = {
  createProjectEnvironmentVariableAlias: alias,
  createProjectSecretAlias: alias,
  createProjectEnvironmentVariableOverride: overrideOf(({ variables, more }) => ({
    variables: { ...variables, project: more['builtInVariableId'] ?? '' },
  })),
  // A project can override only built-in variables, and none of these is secret.
  createProjectSecretOverride: { body: { value: 'mine' }, refused: { status: 400, reason: /wider scope/ } },
  createEnvironmentEnvironmentVariableAlias: alias,
  createEnvironmentSecretAlias: alias,
  createEnvironmentEnvironmentVariableOverride: overrideOf(({ variables }) => ({
    variables: { ...variables, environment: variables.project },
  })),
  createEnvironmentSecretOverride: overrideOf(({ secrets }) => ({
    secrets: { ...secrets, environment: secrets.project },
  })),
  createApplicationEnvironmentVariableAlias: alias,
  createApplicationSecretAlias: alias,
  createApplicationEnvironmentVariableOverride: overrideOf(({ variables }) => ({
    variables: { ...variables, service: variables.environment },
  })),
  createApplicationSecretOverride: overrideOf(({ secrets }) => ({ secrets: { ...secrets, service: secrets.project } })),
  importEnvironmentVariable: imported('APPLICATION'),

  createContainerEnvironmentVariable: create,
  createContainerSecret: create,
  editContainerEnvironmentVariable: edit,
  editContainerSecret: edit,
  createContainerEnvironmentVariableAlias: alias,
  createContainerSecretAlias: alias,
  createContainerEnvironmentVariableOverride: variableOf('container'),
  createContainerSecretOverride: secretOf('container'),
  importContainerEnvironmentVariable: imported('CONTAINER'),

  createJobEnvironmentVariable: create,
  createJobSecret: create,
  editJobEnvironmentVariable: edit,
  editJobSecret: edit,
  createJobEnvironmentVariableAlias: alias,
  createJobSecretAlias: alias,
  createJobEnvironmentVariableOverride: variableOf('job'),
  createJobSecretOverride: secretOf('job'),
  importJobEnvironmentVariable: imported('JOB'),

  listProjectVariableUses: used,
  listEnvironmentVariableUses: used,
  listVariables: { of: ({ applicationId }) => ({ query: { parent_id: applicationId, scope: 'APPLICATION' } }) },
  createVariable: {
    of: ({ projectId }) => ({
      body: { key: 'ANY', value: 'text', is_secret: true, variable_scope: 'PROJECT', variable_parent_id: projectId },
    }),
  },
  editVariable: edit,
  createVariableAlias: {
    of: ({ applicationId }) => ({
      body: { key: 'SECOND_NAME', alias_scope: 'APPLICATION', alias_parent_id: applicationId },
    }),
  },
  createVariableOverride: {
    of: ({ applicationId }) => ({
      body: { value: 'mine', override_scope: 'APPLICATION', override_parent_id: applicationId },
    }),
    prepare: async (_platform, { more, secrets }) => ({ more: { ...more, variableId: secrets.environment } }),
  },
  importEnvironmentVariables: {
    ...imported('PROJECT'),
    of: ({ applicationId }) => ({
      ...imported('PROJECT'),
      query: { service_id: applicationId, service_type: 'APPLICATION' },
    }),
  },
}
