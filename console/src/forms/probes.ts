import type { FieldSpec, Shape, ShapeSpec } from './fields.ts'

const times: readonly FieldSpec[] = [
  { path: 'initial_delay_seconds', label: 'First after', type: 'number', hint: 'Seconds.' },
  { path: 'period_seconds', label: 'Every', type: 'number', hint: 'Seconds.' },
  { path: 'timeout_seconds', label: 'Timeout', type: 'number', hint: 'Seconds.' },
  { path: 'failure_threshold', label: 'Failures in a row', type: 'number' },
]
const usual = { initial_delay_seconds: 30, period_seconds: 10, timeout_seconds: 5, failure_threshold: 9 }
const portField = (kind: string): FieldSpec => ({ path: `type.${kind}.port`, label: 'Port', type: 'number' })

const shapes: readonly Shape[] = [
  { label: 'none', mark: '', fresh: null, fields: [] },
  {
    label: 'HTTP request',
    mark: 'type.http',
    fresh: { type: { http: { path: '/', port: 8080 } }, ...usual },
    fields: [{ path: 'type.http.path', label: 'Path', type: 'text', keepsEmpty: true }, portField('http'), ...times],
  },
  {
    label: 'TCP connection',
    mark: 'type.tcp',
    fresh: { type: { tcp: { port: 8080 } }, ...usual },
    fields: [portField('tcp'), ...times],
  },
  {
    label: 'gRPC health',
    mark: 'type.grpc',
    fresh: { type: { grpc: { port: 8080 } }, ...usual },
    fields: [portField('grpc'), { path: 'type.grpc.service', label: 'Service', type: 'text' }, ...times],
  },
  {
    label: 'command',
    mark: 'type.exec',
    fresh: { type: { exec: { command: [] } }, ...usual },
    fields: [{ path: 'type.exec.command', label: 'Command', type: 'words', hint: 'One argument a line.' }, ...times],
  },
]

/** A probe of a service: none, or one of four kinds of check. */
export const probeField = (path: string, label: string, hint: string): ShapeSpec => ({
  path,
  label,
  hint,
  type: 'shape',
  shapes,
})
