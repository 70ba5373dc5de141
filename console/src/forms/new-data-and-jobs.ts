import { optionsOf } from './fields.ts'
import type { NewService } from './new-services.ts'
import { scheduleField } from './schedule.ts'
import { firstImage, imageFields, nameField, repositoryFields, resourceFields } from './service-parts.ts'

export const newDatabase: NewService = {
  source: 'Database',
  about: 'PostgreSQL, MySQL, MongoDB or Redis with a volume and a password of its own.',
  fields: ({ databases }, { type }) => [
    nameField,
    {
      path: 'type',
      label: 'Type',
      type: 'select',
      options: databases.map((one) => ({ value: one.type, label: one.type, also: { version: one.versions[0] } })),
    },
    {
      path: 'version',
      label: 'Version',
      type: 'select',
      options: optionsOf(...(databases.find((one) => one.type === type)?.versions ?? [])),
    },
    {
      path: 'mode',
      label: 'Mode',
      type: 'select',
      hint: 'On this platform both have the same effect.',
      options: optionsOf('CONTAINER', 'MANAGED'),
    },
    {
      path: 'accessibility',
      label: 'Access',
      type: 'select',
      options: [
        { value: 'PRIVATE', label: 'services of the environment' },
        { value: 'PUBLIC', label: 'also from outside, on a port of the machine' },
      ],
    },
    { path: 'storage', label: 'Storage', type: 'number', hint: 'GB. It can only grow.' },
  ],
  initial: ({ databases }) => ({
    name: '',
    type: databases[0]?.type,
    version: databases[0]?.versions[0],
    mode: 'CONTAINER',
    accessibility: 'PRIVATE',
    storage: 10,
  }),
}

export const newJob: NewService = {
  source: 'Job',
  about: 'A program that runs to its end: by a timetable, or when the environment starts, stops or is deleted.',
  fields: (choices) => [
    nameField,
    {
      path: 'source',
      label: 'Source',
      type: 'shape',
      shapes: [
        {
          label: 'image of a registry',
          mark: 'image',
          fresh: { image: firstImage(choices) },
          fields: imageFields('image.', choices),
        },
        {
          label: 'repository, with a Dockerfile of its own',
          mark: 'docker.dockerfile_raw',
          fresh: { docker: { git_repository: { url: '' }, dockerfile_raw: '' } },
          fields: [
            ...repositoryFields('docker.git_repository', choices),
            { path: 'docker.dockerfile_raw', label: 'Dockerfile', type: 'long', isRequired: true },
          ],
        },
        {
          label: 'repository',
          mark: 'docker',
          fresh: { docker: { git_repository: { url: '' }, dockerfile_path: 'Dockerfile' } },
          fields: [
            ...repositoryFields('docker.git_repository', choices),
            { path: 'docker.dockerfile_path', label: 'Dockerfile', type: 'text', hint: 'Below the root path.' },
          ],
        },
      ],
    },
    scheduleField,
    ...resourceFields,
  ],
  initial: (choices) => ({
    name: '',
    source: { image: firstImage(choices) },
    schedule: { cronjob: { scheduled_at: '', timezone: 'Etc/UTC', arguments: [] } },
    cpu: 500,
    memory: 512,
  }),
}
