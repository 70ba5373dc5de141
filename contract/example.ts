import type { TSchema } from '@sinclair/typebox'

/** Examples of fields by name, if the schema is not precise enough. */
const byName: Readonly<Record<string, unknown>> = {
  name: 'shop',
  description: 'The shop of Acme',
  key: 'LOG_LEVEL',
  value: 'debug',
  url: 'https://github.com/acme/shop.git',
  target_url: 'https://hooks.example.com/quayside',
  branch: 'main',
  root_path: '/',
  dockerfile_path: 'Dockerfile',
  image_name: 'acme/shop',
  tag: '1.4.2',
  version: '17',
  email: 'ada@example.com',
  domain: 'shop.example.com',
  mount_point: '/data',
  mount_path: '/etc/shop/config.yaml',
  timezone: 'Europe/Paris',
  scheduled_at: '0 3 * * *',
  cron_at: '0 3 * * *',
  git_commit_id: '3f786850e387550fdab836ed7e6dc881de23001b',
  chart_name: 'nginx',
  chart_version: '15.1.0',
  icon_uri: 'app://qovery-console/application',
  execution_id: '0190a000-0000-7000-8000-000000000001-7',
  message: 'Listening on port 8080',
}
const byFormat: Readonly<Record<string, string>> = {
  uuid: '0190a000-0000-7000-8000-000000000001',
  'date-time': '2026-05-01T08:00:00.000Z',
  date: '2026-05-01',
  email: 'ada@example.com',
  uri: 'https://example.com/',
}

/** Returns a plausible value of a schema, always the same. `name` is the name of the field. */
export function exampleOf(schema: TSchema, name = ''): unknown {
  const { anyOf, allOf } = schema
  if ('const' in schema) return schema['const']
  if (schema.default !== undefined && !isEmpty(schema.default)) return schema.default
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0], name)
  if (Array.isArray(allOf)) return Object.assign({}, ...allOf.map((part: TSchema) => exampleOf(part, name)))
  switch ([schema['type']].flat().find((type) => type !== 'null')) {
    case 'string':
      return exampleText(schema, name)
    case 'integer':
    case 'number':
      return Math.max(schema['minimum'] ?? 0, Math.min(schema['maximum'] ?? 1, name.endsWith('port') ? 8080 : 1))
    case 'boolean':
      return true
    case 'array':
      return schema['items'] ? exampleList(schema, name) : []
    case 'object':
      return exampleObject(schema)
    default:
      return null
  }
}

function exampleText(schema: TSchema, name: string): string {
  const format = byFormat[schema['format'] ?? '']
  if (format !== undefined) return format
  const known = byName[name]
  const text = typeof known === 'string' ? known : 'text'
  return text.slice(0, schema['maxLength'] ?? text.length).padEnd(schema['minLength'] ?? 0, 'x')
}

const exampleList = (schema: TSchema, name: string): unknown[] =>
  Array.from({ length: Math.max(1, schema['minItems'] ?? 0) }, () => exampleOf(schema['items'], name.replace(/s$/, '')))

const exampleObject = ({ properties = {} }: TSchema): unknown =>
  Object.fromEntries(Object.entries<TSchema>(properties).map(([name, property]) => [name, exampleOf(property, name)]))

const isEmpty = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && value !== null && !Object.keys(value).length)
