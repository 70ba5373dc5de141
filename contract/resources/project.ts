import { operation } from '../operation.ts'
import { base, NoBody, Ref, Results, Text, Type } from '../schema.ts'

export const Project = Type.Object({
  ...base,
  name: Type.String(),
  description: Type.String(),
  organization: Ref,
  associated_environments_count: Type.Integer(),
})

export const ProjectRequest = Type.Object({ name: Text(255, 1), description: Type.Optional(Text(1000)) })

const tag = 'Project'

export const projectOperations = {
  listProject: operation({
    method: 'GET',
    path: '/organization/{organizationId}/project',
    handler: 'listProjects',
    target: 'organization',
    access: 'read',
    tag,
    summary: 'Lists the projects of an organization, oldest first.',
    reply: Results(Project),
    status: 200,
  }),
  createProject: operation({
    method: 'POST',
    path: '/organization/{organizationId}/project',
    handler: 'createProject',
    event: { type: 'CREATE', target: 'PROJECT' },
    target: 'organization',
    access: 'write',
    tag,
    summary: 'Creates a project. 409 if the name is taken.',
    body: ProjectRequest,
    reply: Project,
    status: 200,
  }),
  getProject: operation({
    method: 'GET',
    path: '/project/{projectId}',
    handler: 'getProject',
    target: 'project',
    access: 'read',
    tag,
    summary: 'Returns a project.',
    reply: Project,
    status: 200,
  }),
  editProject: operation({
    method: 'PUT',
    path: '/project/{projectId}',
    handler: 'editProject',
    event: { type: 'UPDATE', target: 'PROJECT' },
    target: 'project',
    access: 'admin',
    tag,
    summary: 'Changes the name and description of a project.',
    body: ProjectRequest,
    reply: Project,
    status: 200,
  }),
  deleteProject: operation({
    method: 'DELETE',
    path: '/project/{projectId}',
    handler: 'deleteProject',
    event: { type: 'DELETE', target: 'PROJECT' },
    target: 'project',
    access: 'admin',
    tag,
    summary: 'Deletes a project. 409 if it has environments.',
    reply: NoBody,
    status: 204,
  }),
} as const
