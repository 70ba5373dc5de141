import type { AuditTarget } from '../audit.ts'
import { named, operation } from '../operation.ts'
import { NoBody, Results, Text, type TObject, type TSchema, Type } from '../schema.ts'
import {
  AssociatedService,
  ContainerRegistry,
  ContainerRegistryRequest,
  HelmRepository,
  HelmRepositoryRequest,
} from './registry-record.ts'
import { Status } from './status.ts'

/** The operations that container registries and Helm repositories share. */
function stored<const K extends string, R extends TSchema, B extends TObject>(
  noun: K,
  given: { readonly target: AuditTarget; readonly words: string; readonly record: R; readonly request: B },
) {
  const { target, words, record, request } = given
  // The cast states the type of the new text, so that clients know the ids of the paths.
  const first = `${noun.charAt(0).toLowerCase()}${noun.slice(1)}` as Uncapitalize<K>
  const path = `/organization/{organizationId}/${first}` as const
  const one = `${path}/{${first}Id}` as const
  const onOrganization = { target: 'organization', tag: noun } as const
  return named(noun, {
    'list{Kind}': operation({
      ...onOrganization,
      method: 'GET',
      path,
      handler: `list${noun}` as const,
      access: 'read',
      summary: `Lists each ${words} of an organization, without secrets, oldest first.`,
      reply: Results(record),
      status: 200,
    }),
    'create{Kind}': operation({
      ...onOrganization,
      method: 'POST',
      path,
      handler: `create${noun}` as const,
      access: 'admin',
      event: { type: 'CREATE', target },
      summary: `Creates a ${words}. Its secrets are never returned. 409 if the name is taken.`,
      body: request,
      reply: record,
      status: 201,
    }),
    'get{Kind}': operation({
      ...onOrganization,
      method: 'GET',
      path: one,
      handler: `get${noun}` as const,
      access: 'read',
      summary: `Returns a ${words} without secrets.`,
      reply: record,
      status: 200,
    }),
    'edit{Kind}': operation({
      ...onOrganization,
      method: 'PUT',
      path: one,
      handler: `edit${noun}` as const,
      access: 'admin',
      event: { type: 'UPDATE', target },
      summary:
        `Replaces a ${words}. Absent or empty secrets are kept if kind and host are unchanged. Null clears ` + 'them.',
      body: request,
      reply: record,
      status: 200,
    }),
    'delete{Kind}': operation({
      ...onOrganization,
      method: 'DELETE',
      path: one,
      handler: `delete${noun}` as const,
      access: 'admin',
      event: { type: 'DELETE', target },
      summary: `Deletes a ${words}. 409 if a service still uses it.`,
      reply: NoBody,
      status: 204,
    }),
    'listAvailable{Kind}': operation({
      method: 'GET',
      path: `/available${noun}`,
      handler: `listAvailable${noun}` as const,
      target: 'caller',
      access: 'read',
      tag: noun,
      summary: `Lists the kinds of ${words} with the required configuration of each.`,
      reply: Results(
        Type.Object({
          kind: Type.String(),
          required_config: Type.Record(Type.String(), Type.String()),
          is_mandatory: Type.Boolean(),
        }),
      ),
      status: 200,
    }),
    'get{Kind}AssociatedServices': operation({
      ...onOrganization,
      method: 'GET',
      path: `${one}/associatedServices`,
      handler: `get${noun}AssociatedServices` as const,
      access: 'read',
      summary: `Lists the services that use a ${words}.`,
      reply: Results(AssociatedService),
      status: 200,
    }),
  })
}

const registry = '/organization/{organizationId}/containerRegistry/{containerRegistryId}'
const repository = '/organization/{organizationId}/helmRepository/{helmRepositoryId}'
/** A part of a name. */
const Part = Type.Optional(Text(255))

export const registryOperations = {
  ...stored('ContainerRegistry', {
    target: 'CONTAINER_REGISTRY',
    words: 'container registry',
    record: ContainerRegistry,
    request: ContainerRegistryRequest,
  }),
  getContainerVersions: operation({
    method: 'GET',
    path: `${registry}/images`,
    handler: 'listImageVersions',
    target: 'organization',
    access: 'write',
    elsewhere: true,
    tag: 'ContainerRegistry',
    summary: 'Lists the tags of the image `imageName`, at most 1,000, or the images whose name contains `search`.',
    query: Type.Object({ imageName: Part, search: Part }),
    reply: Results(Type.Object({ image_name: Type.String(), versions: Type.Array(Type.String()) })),
    status: 200,
  }),
  getContainerRegistryContainerStatus: operation({
    method: 'GET',
    path: `${registry}/container/status`,
    handler: 'listRegistryServiceStatuses',
    target: 'organization',
    access: 'read',
    tag: 'ContainerRegistry',
    summary: 'Lists the status of the services that use a container registry.',
    reply: Results(Status),
    status: 200,
  }),
  ...stored('HelmRepository', {
    target: 'HELM_REPOSITORY',
    words: 'Helm repository',
    record: HelmRepository,
    request: HelmRepositoryRequest,
  }),
  getHelmCharts: operation({
    method: 'GET',
    path: `${repository}/charts`,
    handler: 'listChartVersions',
    target: 'organization',
    access: 'write',
    elsewhere: true,
    tag: 'HelmRepository',
    summary: 'Lists the charts of a Helm repository with their versions, newest first. `chartName` selects one chart.',
    query: Type.Object({ chartName: Part }),
    reply: Results(Type.Object({ chart_name: Type.String(), versions: Type.Array(Type.String()) })),
    status: 200,
  }),
} as const
